package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/taskgraph/schedule"
)

// kind is that of the events of task runs.
const kind = "execute"

// maxTries is how often an execution begins a task anew whose outcome is unknown.
const maxTries = 3

// vertex is an item or a join of the schedule.
type vertex struct {
	waits   int32 // for how many vertices
	blame   int32 // 1 + the item because of which it is skipped, or 0
	attempt int32
	tries   int8
	status  status
	resumed bool // an earlier process has started it
	started time.Time
}

type status uint8

const (
	waiting status = iota
	running
	good // what waits for it goes on
	failed
	unknown
	skipped // because of one that failed or is unknown
)

// outcome is how a task ended.
type outcome struct {
	item int32
	err  error
}

// restore notes what has ended, and finds what can start.
func (x *execution) restore(rows []store.TaskRun) error {
	s := x.schedule
	x.now, x.wrong, x.left = time.Now().UTC(), map[int32]string{}, len(s.Items)
	x.limits = newLimits(s.Items, x.PerRole)
	x.tokens = fmt.Sprintf("%s/%d-%s-", x.Environment, x.Job.ID, x.request.Nonce)
	x.names = names(s.Items)
	x.vertices, x.dependents = make([]vertex, s.Graph.Len()), s.Graph.Reverse()
	for v := range x.vertices {
		x.vertices[v].waits = s.Graph.Start[v+1] - s.Graph.Start[v]
	}
	for _, r := range rows {
		if r.Number >= len(s.Items) || s.Items[r.Number].Task.ID != r.Task || nodeOf(&s.Items[r.Number]) != r.Node {
			return errors.New("the order of tasks is not the one that the run was started with: start another run")
		}
		if i := int32(r.Number); x.restoreItem(i, r) {
			x.ended = append(x.ended, i)
		}
	}
	for v := range int32(len(x.vertices)) {
		if x.vertices[v].waits == 0 && x.vertices[v].status == waiting && x.ready(v) {
			x.ended = append(x.ended, v)
		}
	}
	x.propagate()
	// A task that may still run on its node comes first: it counts.
	slices.SortStableFunc(x.queue, func(a, b int32) int {
		if x.vertices[a].resumed == x.vertices[b].resumed {
			return 0
		} else if x.vertices[a].resumed {
			return -1
		}
		return 1
	})
	return nil
}

// restoreItem notes what the store has of an item, and reports whether it has ended.
func (x *execution) restoreItem(i int32, r store.TaskRun) bool {
	v, item := &x.vertices[i], &x.schedule.Items[i]
	v.attempt, v.started = int32(r.Attempt), r.Started
	switch {
	case r.State == store.Done, r.State == store.Failed && item.Task.Tolerant, r.State == store.Skipped && r.Message == item.Skip:
		v.status = good
	case r.State == store.Unknown:
		v.status, v.blame, x.wrong[i] = unknown, i+1, r.Message
	case r.State == store.Started && item.Task.Once && x.now.Sub(r.Started) > Memory:
		x.fail(i, unknown, store.Unknown, ErrUncertain)
		return true
	case r.State == store.Started:
		v.resumed = true
		return false
	case r.State == store.Failed:
		v.attempt++
		return false
	default:
		return false
	}
	x.left--
	return true
}

// ready is called for a vertex that waits for nothing any more. It reports whether that is its end.
func (x *execution) ready(v int32) bool {
	if int(v) >= len(x.schedule.Items) {
		x.vertices[v].status = good
		return true
	}
	item := &x.schedule.Items[v]
	switch {
	case item.Skip != "":
		x.settle(v, good, store.Skipped, item.Skip)
	case item.Task.Type == taskgraph.SkippedType:
		x.settle(v, good, store.Skipped, taskgraph.SkippedType)
	case item.Task.Type == taskgraph.StageType || item.Task.Type == taskgraph.GroupType || item.Task.Type == taskgraph.AnchorType:
		x.settle(v, good, store.Done, "")
	default:
		x.queue = append(x.queue, v)
		return false
	}
	return true
}

// propagate tells what waits for vertices that they have ended.
func (x *execution) propagate() {
	for len(x.ended) > 0 {
		v := x.ended[len(x.ended)-1]
		x.ended = x.ended[:len(x.ended)-1]
		from := &x.vertices[v]
		for _, d := range x.dependents.Out(v) {
			to := &x.vertices[d]
			to.waits--
			if to.status != waiting {
				continue
			}
			isJoin := int(d) >= len(x.schedule.Items)
			if from.status != good {
				to.blame = from.blame
			}
			switch {
			case isJoin && x.schedule.Any[d] && from.status == good:
				to.status = good
				x.ended = append(x.ended, d)
			case to.waits > 0:
			case to.blame != 0:
				if to.status = skipped; !isJoin {
					x.skip(d, to.blame-1)
				}
				x.ended = append(x.ended, d)
			case x.ready(d):
				x.ended = append(x.ended, d)
			}
		}
	}
}

// loop runs tasks until none is left that may start and none runs. If it fails, what has accumulated is not recorded.
func (x *execution) loop(ctx context.Context) error {
	x.finished = make(chan struct{})
	aborts, stop, done := x.Aborts(), x.Stopping(), ctx.Done()
	for {
		x.mutex.Lock()
		x.poked = true
		x.advance(ctx)
		x.mutex.Unlock()
		select {
		case <-x.finished:
			return x.err
		case <-x.poke:
		case <-aborts:
			aborts = nil
		case <-stop:
			stop = nil
		case <-done:
			done = nil
		}
	}
}

// advance records outcomes and starts what they let start, unless another goroutine does. It is called with the mutex, and
// releases it in between. So whoever ends a task goes on with what follows from it, together with all that end meanwhile.
func (x *execution) advance(ctx context.Context) {
	if x.busy {
		return
	}
	for x.busy = true; x.poked || len(x.outcomes) > 0; {
		outcomes := x.outcomes
		x.poked, x.outcomes, x.handled = false, x.handled[:0], outcomes
		x.mutex.Unlock()
		x.step(ctx, outcomes)
		x.mutex.Lock()
		x.todo = append(x.todo, x.starting...)
		x.running += len(x.starting)
		x.starting = x.starting[:0]
		x.help(ctx)
		if x.running == 0 && len(x.outcomes) == 0 && !isClosed(x.finished) {
			close(x.finished)
		}
	}
	x.busy = false
}

// step records outcomes, and decides what starts.
func (x *execution) step(ctx context.Context, outcomes []outcome) {
	x.now = time.Now().UTC()
	for _, o := range outcomes {
		x.end(o)
	}
	if x.stopped = x.Interrupted(ctx) != nil; !x.stopped && x.halted == 0 && x.err == nil {
		x.fill()
	}
	if x.err == nil {
		if x.err = x.commit(context.WithoutCancel(ctx)); x.err != nil {
			x.starting = x.starting[:0]
			x.Abandon(x.err)
		}
	}
}

// fill takes tasks from the queue while there is room.
func (x *execution) fill() {
	for _, i := range x.again {
		x.begin(i)
	}
	for x.again = x.again[:0]; len(x.queue) > 0 && x.running+len(x.starting) < x.Parallelism; {
		i := x.queue[0]
		x.queue = x.queue[1:]
		if x.vertices[i].status == waiting && x.limits.take(i, &x.schedule.Items[i], &x.queue) {
			x.begin(i)
		}
	}
}

// begin notes the intent to run a task.
func (x *execution) begin(i int32) {
	v := &x.vertices[i]
	v.started, v.status = x.now, running
	r := x.row(i)
	r.State, r.Started = store.Started, x.now
	x.rows, x.starting = append(x.rows, r), append(x.starting, i)
}

// help starts a worker if there is something to do for one, and none is about to start. It is called with the mutex.
func (x *execution) help(ctx context.Context) {
	if !x.helping && (len(x.todo) > 0 || len(x.outcomes) > 0 && !x.busy) {
		x.helping = true
		go x.worker(ctx)
	}
}

// worker runs tasks until there are none.
func (x *execution) worker(ctx context.Context) {
	x.mutex.Lock()
	defer x.mutex.Unlock()
	x.helping = false
	for {
		if len(x.todo) == 0 {
			x.advance(ctx)
		}
		if len(x.todo) == 0 {
			return
		}
		i := x.todo[0]
		x.todo = x.todo[1:]
		x.help(ctx)
		x.mutex.Unlock()
		err := x.execute(i)
		x.mutex.Lock()
		x.outcomes = append(x.outcomes, outcome{i, err})
	}
}

// execute runs a task.
func (x *execution) execute(i int32) error {
	item, v := &x.schedule.Items[i], &x.vertices[i]
	w := Work{
		Environment: x.Environment, Run: x.Job.ID, Task: item.Task, Node: item.Node, Parameters: x.request.Inventory.Parameters,
		Token: x.token(i, v.attempt), Resumed: v.resumed, Log: func(level, message string) { x.log(i, level, message) },
	}
	if x.Events != nil {
		x.Show(x.event(i, v.started, store.Started, ""))
	}
	return x.Executor.Execute(x.Calls, w)
}

// token returns the token of an attempt.
func (x *execution) token(i, attempt int32) string {
	var buffer [80]byte
	t := append(buffer[:0], x.tokens...)
	if t = strconv.AppendInt(t, int64(i), 10); attempt > 0 {
		t = strconv.AppendInt(append(t, '.'), int64(attempt), 10)
	}
	return string(t)
}

// end notes the outcome of a task.
func (x *execution) end(o outcome) {
	v, item := &x.vertices[o.item], &x.schedule.Items[o.item]
	x.running--
	isUnreached := errors.Is(o.err, ErrUnreached)
	isUncertain := errors.Is(o.err, ErrUncertain) && !isUnreached
	if isUncertain && !item.Task.Once && v.tries < maxTries && x.Calls.Err() == nil {
		v.resumed = false
		v.attempt++
		v.tries++
		x.again = append(x.again, o.item) // It may still run on its node, so it keeps its slots.
		return
	}
	x.limits.give(item, &x.queue)
	switch {
	case o.err == nil:
		x.settle(o.item, good, store.Done, "")
	case x.Calls.Err() != nil: // Its row stays STARTED, so that it is resumed.
		v.status = waiting
		return
	case isUncertain && item.Task.Once:
		x.fail(o.item, unknown, store.Unknown, o.err)
	case item.Task.Tolerant:
		x.settle(o.item, good, store.Failed, job.Brief(o.err.Error()))
	default:
		state := store.Failed
		if isUnreached { // It is to be resumed.
			state = store.Started
		}
		x.fail(o.item, failed, state, o.err)
		if x.StopOnError && x.halted == 0 {
			x.halted = o.item + 1
		}
	}
	x.ended = append(x.ended[:0], o.item)
	if v.status != good && item.Task.Rolling {
		x.halt(o.item)
	}
	x.propagate()
}

// fail notes an item because of which others are skipped.
func (x *execution) fail(i int32, as status, state store.State, err error) {
	x.wrong[i], x.vertices[i].blame = job.Brief(err.Error()), i+1
	x.settle(i, as, state, x.wrong[i])
}

// skip notes an item that waits for one that failed or is unknown.
func (x *execution) skip(i, blame int32) {
	why := x.names[blame] + " failed"
	if x.vertices[blame].status == unknown {
		why = "the outcome of " + x.names[blame] + " is unknown"
	}
	x.settle(i, skipped, store.Skipped, why)
}

// halt skips what has not started of a task that failed on a node.
func (x *execution) halt(blame int32) {
	for i := range int32(len(x.schedule.Items)) {
		v, item := &x.vertices[i], &x.schedule.Items[i]
		if item.Task == x.schedule.Items[blame].Task && v.status == waiting && !v.resumed && item.Skip == "" {
			v.blame = blame + 1
			x.skip(i, blame)
			x.ended = append(x.ended, i)
		}
	}
}

// settle notes that an item has ended.
func (x *execution) settle(i int32, as status, state store.State, message string) {
	x.vertices[i].status = as
	x.left--
	r := x.row(i)
	r.State, r.Started, r.Ended, r.Message = state, x.vertices[i].started, x.now, message
	x.rows = append(x.rows, r)
	if state == store.Started {
		state = store.Failed
	}
	x.events = append(x.events, x.event(i, x.now, state, message))
}

func (x *execution) row(i int32) store.TaskRun {
	item := &x.schedule.Items[i]
	return store.TaskRun{
		Number: int(i), Task: item.Task.ID, Node: nodeOf(item), Digest: item.Digest, Refresh: item.Refresh, Owner: x.jobs.Owner,
		Attempt: int(x.vertices[i].attempt),
	}
}

func (x *execution) event(i int32, at time.Time, state store.State, message string) store.Event {
	return store.Event{
		Time: at, Deployment: x.Job.ID, Name: x.name, URN: x.names[i], Kind: kind, State: state, Message: message,
	}
}

func nodeOf(item *schedule.Item) string {
	if item.Node == nil {
		return ""
	}
	return item.Node.Name
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// names returns the names of items.
func names(items []schedule.Item) []string {
	all := make([]string, len(items))
	for i := range items {
		all[i] = items[i].Name()
	}
	return all
}
