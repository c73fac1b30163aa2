package run

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/taskgraph/schedule"
)

// restore restores the outcomes so far and queues the tasks that can start.
func (x *execution) restore(rows []store.TaskRun) error {
	s := x.schedule
	x.now, x.wrong, x.left = time.Now().UTC(), map[int32]string{}, len(s.Items)
	x.limits = newLimits(s, x.PerRole)
	x.windows = newWindows(s)
	x.tokens = fmt.Sprintf("%s/%d-%s-", x.Environment, x.Job.ID, x.request.Nonce)
	x.names = names(s.Items)
	x.vertices, x.dependents = make([]vertex, s.Graph.Len()), s.Graph.Reverse()
	for v := range x.vertices {
		x.vertices[v].waits = s.Graph.Start[v+1] - s.Graph.Start[v]
	}
	for _, r := range rows {
		if r.Number >= len(s.Items) || s.Items[r.Number].Task.ID != r.Task || nodeOf(&s.Items[r.Number]) != r.Node {
			return errors.New("the task order has changed since the run started: start another run")
		}
	}
	x.windows.recall(s.Items, rows)
	for _, r := range rows {
		if i := int32(r.Number); x.restoreItem(i, r) {
			x.ended = append(x.ended, i)
		}
	}
	for v := range int32(len(x.vertices)) {
		if x.vertices[v].waits == 0 && x.vertices[v].status == waiting && x.ready(v) {
			x.ended = append(x.ended, v)
		}
	}
	x.spread()
	x.reenter(rows)
	for _, r := range rows {
		if i := int32(r.Number); x.vertices[i].status == failed || x.vertices[i].status == unknown {
			x.follow(i)
		}
	}
	x.propagate()
	// Tasks that may still be running on their nodes go first, since they occupy their slots.
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

// restoreItem restores the stored state of an item. It reports whether the item has ended.
func (x *execution) restoreItem(i int32, r store.TaskRun) bool {
	v, item := &x.vertices[i], &x.schedule.Items[i]
	v.attempt, v.started = int32(r.Attempt), r.Started
	switch {
	case r.State == store.Done, r.Tolerated && item.Task.Tolerant, r.State == store.Skipped && r.Message == item.Skip:
		v.status = good
	case r.Tolerated:
		v.status, v.blame, x.windows.forgiven[i] = failed, i+1, true
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
	x.windows.end(i)
	return true
}

// ready handles a vertex whose dependencies have all ended. It reports whether the vertex has ended as a result.
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
		if !x.windows.park(v) {
			x.queue = append(x.queue, v)
		}
		return false
	}
	return true
}

// propagate notifies the dependents of ended vertices, and lets units enter their windows.
func (x *execution) propagate() {
	x.spread()
	x.windows.admit(&x.queue)
}

// spread notifies the dependents of ended vertices.
func (x *execution) spread() {
	for len(x.ended) > 0 {
		v := x.ended[len(x.ended)-1]
		x.ended = x.ended[:len(x.ended)-1]
		from := &x.vertices[v]
		for _, d := range x.dependents.Out(v) {
			to := &x.vertices[d]
			to.waits--
			x.windows.ended(v, d)
			if to.status != waiting {
				continue
			}
			isJoin := int(d) >= len(x.schedule.Items)
			isMet := from.status == good || x.forgives(v, d)
			if !isMet && (to.blame == 0 || !x.windows.forgiven[from.blame-1]) {
				to.blame = from.blame
			} else if to.waits == 0 && to.blame == 0 {
				to.blame = x.own(d)
			}
			switch {
			case isJoin && x.schedule.Any[d] && isMet:
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

// maxTries is the maximum number of times that an execution restarts a task with an unknown outcome.
const maxTries = 3

// end records the outcome of a task.
func (x *execution) end(o outcome) {
	v, item := &x.vertices[o.item], &x.schedule.Items[o.item]
	x.running--
	isUnreached := errors.Is(o.err, ErrUnreached)
	isUncertain := errors.Is(o.err, ErrUncertain) && !isUnreached
	if isUncertain && !item.Task.Once && v.tries < maxTries && x.Calls.Err() == nil {
		v.resumed = false
		v.attempt++
		v.tries++
		x.again = append(x.again, o.item) // keeps its slots, since it may still be running on its node
		return
	}
	x.limits.give(item, &x.queue)
	switch {
	case o.err == nil:
		x.settle(o.item, good, store.Done, "")
	case x.Calls.Err() != nil: // the row stays STARTED, so that the task is resumed
		v.status = waiting
		return
	case isUncertain && item.Task.Once:
		x.fail(o.item, unknown, store.Unknown, o.err)
	case item.Task.Tolerant:
		x.settle(o.item, good, store.Failed, job.Brief(o.err.Error()))
	case x.windows.forgive(o.item, item.Node):
		v.blame = o.item + 1
		x.settle(o.item, failed, store.Failed, job.Brief(o.err.Error()))
	default:
		state := store.Failed
		if isUnreached { // a resumed run looks up the outcome
			state = store.Started
		}
		x.fail(o.item, failed, state, o.err)
		if x.StopOnError && x.halted == 0 {
			x.halted = o.item + 1
		}
	}
	x.ended = append(x.ended[:0], o.item)
	if v.status != good {
		x.follow(o.item)
		if item.Task.Rolling && !x.windows.forgiven[o.item] {
			x.halt(o.item)
		}
	}
	x.propagate()
}

// fail records that an item has failed or that its outcome is unknown. Its dependents will be skipped.
func (x *execution) fail(i int32, as status, state store.State, err error) {
	x.wrong[i], x.vertices[i].blame = job.Brief(err.Error()), i+1
	x.settle(i, as, state, x.wrong[i])
}

// skip skips an item because the dependency blame failed or its outcome is unknown.
func (x *execution) skip(i, blame int32) {
	why := x.names[blame] + " failed"
	if x.vertices[blame].status == unknown {
		why = "the outcome of " + x.names[blame] + " is unknown"
	}
	x.settle(i, skipped, store.Skipped, why)
}

// halt skips the items of a rolling task that have not started, after the item blame of this task has failed.
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

// settle records the final state of an item.
func (x *execution) settle(i int32, as status, state store.State, message string) {
	x.vertices[i].status = as
	x.left--
	x.windows.end(i)
	if x.schedule.Items[i].Skip == schedule.ByChoice {
		return
	}
	r := x.row(i)
	r.State, r.Started, r.Ended, r.Message = state, x.vertices[i].started, x.now, message
	_, isWrong := x.wrong[i]
	r.Tolerated = state == store.Failed && !isWrong
	x.rows = append(x.rows, r)
	if state == store.Started {
		state = store.Failed
	}
	event := x.event(i, x.now, state, message)
	if r.Tolerated {
		event.Level = "warn"
	}
	x.events = append(x.events, event)
}
