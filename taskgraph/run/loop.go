package run

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/taskgraph/inventory"
)

// loop runs tasks until none is running and none can start. If it returns an error, pending records have not been
// written.
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

// advance records outcomes and starts the tasks that have become ready. It returns immediately if another goroutine is
// already doing so. It must be called with the mutex held but releases it while working, so that the working goroutine
// also handles outcomes that arrive in the meantime.
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
		// If poked, another step follows, which must not run while the caller already concludes.
		if x.running == 0 && len(x.outcomes) == 0 && !x.poked && !isClosed(x.finished) {
			close(x.finished)
		}
	}
	x.busy = false
}

// step records outcomes and selects the tasks to start.
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

// fill selects queued tasks to start while there is capacity.
func (x *execution) fill() {
	for _, i := range x.again {
		x.begin(i)
	}
	for x.again = x.again[:0]; len(x.queue) > 0 && x.running+len(x.starting) < x.Parallelism; {
		i := x.queue[0]
		x.queue = x.queue[1:]
		if item := &x.schedule.Items[i]; x.vertices[i].status != waiting { // it has been skipped
			x.limits.pass(item, &x.queue)
		} else if x.limits.take(i, item, &x.queue) {
			x.begin(i)
		}
	}
}

// begin records the start of a task before it runs.
func (x *execution) begin(i int32) {
	v := &x.vertices[i]
	v.started, v.status = x.now, running
	r := x.row(i)
	r.State, r.Started = store.Started, x.now
	x.rows, x.starting = append(x.rows, r), append(x.starting, i)
}

// help starts a worker if there is work and no other worker is starting. It must be called with the mutex held.
func (x *execution) help(ctx context.Context) {
	if !x.helping && (len(x.todo) > 0 || len(x.outcomes) > 0 && !x.busy) {
		x.helping = true
		go x.worker(ctx)
	}
}

// worker runs tasks until none are left.
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

func (x *execution) execute(i int32) error {
	item, v := &x.schedule.Items[i], &x.vertices[i]
	w := Work{
		Environment: x.Environment, Run: x.Job.ID, Task: cmp.Or(item.Evaluated, item.Task), Node: item.Node, Parameters: x.request.Inventory.Parameters,
		Data:  func() (map[string]any, error) { return x.data(item.Node) },
		Token: x.token(i, v.attempt), Resumed: v.resumed, Log: func(level, message string) { x.log(i, level, message) },
	}
	if x.Events != nil {
		x.Show(x.event(i, v.started, store.Started, ""))
	}
	return x.Executor.Execute(x.Calls, w)
}

func (x *execution) data(n *inventory.Node) (map[string]any, error) {
	x.reading.Lock()
	defer x.reading.Unlock()
	return x.values.Plain(n)
}

func (x *execution) token(i, attempt int32) string {
	var buffer [80]byte
	t := append(buffer[:0], x.tokens...)
	if t = strconv.AppendInt(t, int64(i), 10); attempt > 0 {
		t = strconv.AppendInt(append(t, '.'), int64(attempt), 10)
	}
	return string(t)
}
