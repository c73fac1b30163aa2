package run

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/taskgraph/inventory"
)

// Run executes a waiting run until it succeeds, fails, needs an answer, or is stopped. It returns the run, whose
// Message explains the outcome. It returns a *[job.RefusedError] if the run is not waiting for this process, and an
// error wrapping [store.ErrFenced] if another process has taken over. After any other error of the store, or if ctx is
// done, the run can be resumed.
func (e *Engine) Run(ctx context.Context, id int64) (store.Job, error) {
	sent := time.Now()
	c, err := e.claim(ctx, id)
	if err != nil || c.State != store.Running {
		return c.Job, err
	}
	x := &execution{Engine: e, Held: e.jobs.Hold(c.Job, sent), name: job.Name(c.Job)}
	x.logged, x.poke = map[int32]int{}, make(chan struct{}, 1)
	err = x.Held.Run(ctx, func(ctx context.Context) error {
		if x.refused = x.prepare(c); x.refused != nil {
			return nil
		}
		return x.loop(ctx)
	}, x.conclude)
	if err == nil && x.Job.State == store.Canceled {
		err = context.Cause(ctx)
	}
	return x.Job, err
}

// claimed is a claimed run and its stored rows.
type claimed struct {
	store.Job
	content store.Content
	rows    []store.TaskRun
}

// claim acquires the lease of a waiting run. It returns a canceled run unchanged.
func (e *Engine) claim(ctx context.Context, id int64) (c claimed, err error) {
	c.Job, err = e.change(ctx, id, func(t *job.Tx, d *store.Job) error {
		switch {
		case d.State == store.Canceled:
			return nil
		case d.State != store.Wait:
			return job.RefuseState(*d, "run")
		case d.Owner != e.jobs.Owner && !e.jobs.IsGone(t.Now(), *d):
			return e.conflict(t.Now(), *d)
		}
		if c.content, err = t.Content(id); err != nil {
			return err
		}
		if c.rows, err = t.TaskRuns(id); err != nil {
			return err
		}
		return t.Claim(d, store.Running)
	})
	return c, err
}

// Read sets r to the request of a stored run.
func (r *Request) Read(content store.Content) error {
	d := json.NewDecoder(strings.NewReader(content.Request))
	d.UseNumber() // keeps the digits of numbers in parameters
	if err := d.Decode(r); err != nil {
		return fmt.Errorf("cannot read the stored request: %w", err)
	}
	return nil
}

// prepare restores the original schedule of the run and the outcomes so far.
func (x *execution) prepare(c claimed) (err error) {
	if err := x.request.Read(c.content); err != nil {
		return err
	}
	r := &x.request
	x.values = inventory.Data{Environment: x.Environment, Type: r.Type, Event: r.Event, Inventory: &r.Inventory, Outputs: r.Outputs}
	if x.schedule, err = x.request.schedule(); err != nil {
		return err
	}
	return x.restore(c.rows)
}

// conclude records the end of the run. err is the error returned by its loop.
func (x *execution) conclude(ctx context.Context, err error) error {
	to, message := x.verdict(err)
	x.lines = append(x.lines, x.take()...)
	var ended store.Job
	failed := x.Record(ctx, func(t *job.Tx, d store.Job) error {
		ended = d
		return cmp.Or(x.put(t), t.Move(&ended, to, message))
	})
	if failed == nil {
		x.Job = ended
	}
	return cmp.Or(err, failed)
}

// verdict returns the final state of the run and its message. err is the error returned by its loop.
func (x *execution) verdict(err error) (store.State, string) {
	switch {
	case x.refused != nil:
		return store.Failed, x.refused.Error()
	case err != nil:
		return store.Canceled, err.Error()
	case x.left > 0 && x.stopped:
		return store.Canceled, ""
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

// maxFailures limits the number of failed tasks listed in the message of a run.
const maxFailures = 20
