package run

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/internal/dag"
	"github.com/lumi-idl/lumi/taskgraph/schedule"
)

// execution is the run of a run by this process, from its claim until it ends. One goroutine has the fields of the loop.
type execution struct {
	*Engine
	d        store.Job
	name     string // of the run
	request  Request
	schedule *schedule.Schedule
	// calls is the context of tasks, cut cancels it. With a cause, commands on nodes go on.
	calls context.Context
	cut   context.CancelCauseFunc
	// aborts is closed once the run is to be stopped.
	aborts    chan struct{}
	abortOnce sync.Once

	// What follows is of the goroutine that advances the run.
	vertices   []vertex
	names      []string
	tokens     string // what tokens start with
	dependents dag.Graph
	left       int     // how many items have not ended
	queue      []int32 // items that wait for nothing but a free slot
	again      []int32 // items to be begun anew
	ended      []int32 // vertices of which others do not know yet
	limits     limits
	wrong      map[int32]string // why items failed or are unknown
	halted     int32            // 1 + the item because of which no new tasks start, or 0
	stopped    bool             // no new tasks start because of Stop, Cancel or ctx
	now        time.Time
	running    int
	err        error
	// What the next transaction records: rows of items that ended, then those of items to be started; output, and ends.
	rows          []store.TaskRun
	starting      []int32
	lines, events []store.Event

	// Workers share what follows.
	mutex             sync.Mutex
	todo              []int32 // items whose intents are recorded
	outcomes, handled []outcome
	busy              bool // a goroutine advances the run
	poked             bool // it is to look again
	helping           bool // a worker is about to start
	finished          chan struct{}

	output
}

// Run runs a run that waits until it is done, has failed, asks or was stopped, and returns it. Its Message says why. The error
// is a *[RefusedError] if it does not wait for this process, and wraps [store.ErrFenced] if another process has taken over. If
// it is another one of the store, or ctx is done, the run can be resumed.
func (e *Engine) Run(ctx context.Context, id int64) (store.Job, error) {
	x := &execution{Engine: e, aborts: make(chan struct{})}
	x.logged, x.poke = map[int32]int{}, make(chan struct{}, 1)
	content, rows, err := x.claim(ctx, id)
	if err != nil || x.d.State != store.Running {
		return x.d, err
	}
	held, end := context.WithCancelCause(ctx)
	defer end(nil)
	x.calls, x.cut = context.WithCancelCause(context.WithoutCancel(ctx))
	defer x.cut(nil)
	var wait sync.WaitGroup
	wait.Go(func() {
		select {
		case <-e.cancelCalls:
			x.cut(nil)
		case <-ctx.Done():
			x.cut(nil)
		case <-held.Done():
			x.cut(context.Cause(held))
		}
	})
	wait.Go(func() { end(x.heartbeat(held)) })
	wait.Go(func() { x.watch(held, id) })
	var to store.State
	var message string
	if wrong := x.prepare(content, rows); wrong != nil {
		to, message = store.Failed, wrong.Error()
	} else if err = x.loop(held); err != nil {
		to, message = store.Cancelled, err.Error()
	} else {
		to, message = x.verdict()
	}
	lost := context.Cause(held)
	end(nil)
	wait.Wait() // A heartbeat after the end would take the run for lost.
	if !errors.Is(err, store.ErrFenced) && !errors.Is(lost, store.ErrFenced) {
		lost = x.conclude(context.WithoutCancel(ctx), to, message)
		err = cmp.Or(err, lost)
	}
	switch {
	case errors.Is(err, store.ErrFenced) || errors.Is(lost, store.ErrFenced):
		err = fmt.Errorf("%s: %w", x.name, store.ErrFenced)
	case err == nil && x.d.State == store.Cancelled:
		err = context.Cause(ctx)
	}
	return x.d, err
}

// claim takes the lease of a run that waits. One that was stopped before stays as it is.
func (x *execution) claim(ctx context.Context, id int64) (content store.Content, rows []store.TaskRun, err error) {
	x.d, err = x.change(ctx, id, func(tx store.Tx, d *store.Job) error {
		switch {
		case d.State == store.Cancelled:
			return nil
		case d.State != store.Wait:
			return refusal(*d, "run")
		case d.Owner != x.holder.Owner && !x.holder.IsGone(*d):
			return x.inTheWay(*d)
		}
		if content, err = tx.Content(id); err != nil {
			return err
		}
		x.holder.Claim(d)
		d.State = store.Running
		rows, err = tx.TaskRuns(id)
		return err
	})
	x.name = Name(x.d)
	return content, rows, err
}

// prepare makes the schedule that the run was started with, and notes what has ended.
func (x *execution) prepare(c store.Content, rows []store.TaskRun) (err error) {
	d := json.NewDecoder(strings.NewReader(c.Request))
	d.UseNumber() // Parameters keep their digits.
	if err := d.Decode(&x.request); err != nil {
		return fmt.Errorf("the stored request cannot be read: %w", err)
	}
	if x.schedule, err = x.request.schedule(); err != nil {
		return err
	}
	return x.restore(rows)
}

// heartbeat renews the lease until ctx is done. The error is that it is lost.
func (x *execution) heartbeat(ctx context.Context) error {
	return x.holder.Keep(ctx, x.d.Expires, func(expires time.Time) error {
		return x.record(ctx, func(tx store.Tx, d store.Job) error {
			d.Expires = expires
			return tx.PutJob(d)
		})
	})
}

// watch looks for requests to stop until ctx is done.
func (x *execution) watch(ctx context.Context, id int64) {
	for tick := time.Tick(time.Second); ctx.Err() == nil; {
		select {
		case <-tick:
		case <-ctx.Done():
		case <-x.aborts:
			return
		}
		_ = x.Store.Read(ctx, func(tx store.Tx) error { // Where it fails, the next record fails too.
			d, err := tx.Job(id)
			if err == nil && d.Abort {
				x.abortOnce.Do(func() { close(x.aborts) })
			}
			return err
		})
	}
}

// record runs f in a transaction. The error is [store.ErrFenced] if this process does not hold the run any more. It notices
// requests to stop.
func (x *execution) record(ctx context.Context, f func(tx store.Tx, d store.Job) error) error {
	return x.Store.Write(ctx, x.Environment, func(tx store.Tx) error {
		d, err := tx.Touch(x.d.ID, x.d.Fence, store.Running)
		if err != nil {
			return err
		}
		if d.Abort {
			x.abortOnce.Do(func() { close(x.aborts) })
		}
		return f(tx, d)
	})
}

// commit records what has accumulated, and shows it.
func (x *execution) commit(ctx context.Context) error {
	x.lines = append(x.lines, x.take()...)
	if len(x.rows)+len(x.lines)+len(x.events) == 0 {
		return nil
	}
	if err := x.record(ctx, func(tx store.Tx, _ store.Job) error { return x.put(tx) }); err != nil {
		x.rows = x.rows[:len(x.rows)-len(x.starting)]
		return err
	}
	x.committed()
	return nil
}

func (x *execution) put(tx store.Tx) error {
	if err := tx.PutTaskRuns(x.d.ID, x.rows); err != nil {
		return err
	}
	if err := tx.AddEvents(x.Environment, x.lines); err != nil {
		return err
	}
	return tx.AddEvents(x.Environment, x.events)
}

func (x *execution) committed() {
	for _, event := range x.events {
		x.show(event)
	}
	x.lines, x.rows, x.events = nil, rest(x.rows, 2*x.left), rest(x.events, x.left)
}

// rest returns an empty slice for what comes after some rows, which the store keeps.
func rest[T any](rows []T, left int) []T {
	if rows = rows[len(rows):]; cap(rows) < chunk/8 {
		rows = make([]T, 0, min(left, chunk)+chunk/8)
	}
	return rows
}

// chunk is for how many rows there is a slice.
const chunk = 1024

// conclude records that the run has ended.
func (x *execution) conclude(ctx context.Context, to store.State, message string) error {
	x.lines = append(x.lines, x.take()...)
	var ended store.Job
	err := x.record(ctx, func(tx store.Tx, d store.Job) error {
		if err := x.put(tx); err != nil {
			return err
		}
		d.State, d.Message = to, brief(message)
		release(&d)
		ended = d
		if err := tx.PutJob(d); err != nil {
			return err
		}
		return x.note(tx, d)
	})
	if err == nil {
		x.d = ended
		x.committed()
		x.show(moved(ended))
	}
	return err
}

// verdict returns how the run ends.
func (x *execution) verdict() (store.State, string) {
	if x.left > 0 && x.stopped {
		return store.Cancelled, ""
	}
	var failures, questions []string
	for _, i := range slices.Sorted(maps.Keys(x.wrong)) {
		if x.vertices[i].status == unknown {
			questions = append(questions, question(x.row(i)))
		} else {
			failures = append(failures, x.names[i]+": "+x.wrong[i])
		}
	}
	for i := range int32(len(x.schedule.Items)) {
		if v := &x.vertices[i]; v.status == waiting && v.started.IsZero() { // because of StopOnError
			x.skip(i, x.halted-1)
		}
	}
	switch {
	case len(questions) > 0:
		return store.Ask, strings.Join(questions, "\n")
	case len(failures) > maxFailures:
		failures = append(failures[:maxFailures], fmt.Sprintf("%d more failed", len(failures)-maxFailures))
	}
	if len(failures) > 0 {
		return store.Failed, strings.Join(failures, "\n")
	}
	return store.Done, ""
}

// maxFailures is how many failed tasks the message of a run names.
const maxFailures = 20
