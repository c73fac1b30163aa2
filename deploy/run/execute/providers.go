package execute

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/run/journal"
	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/internal/dag"
)

// providers is the driver for resource providers. It makes one call per step.
type providers struct {
	*execution
	task plan.Task
	// awaited contains the steps that other steps of the task wait for.
	awaited      map[*plan.Step]bool
	replacements map[*graph.Resource]*plan.Step
	// results contains functions that wait until a result is stored. It is guarded by resultsMu.
	resultsMu sync.Mutex
	results   []func() error
}

func newProviders(x *execution, task plan.Task) *providers {
	p := &providers{execution: x, task: task, awaited: map[*plan.Step]bool{}, replacements: map[*graph.Resource]*plan.Step{}}
	for _, s := range x.plan.Steps {
		if s.Kind == plan.Replace {
			p.replacements[s.Old] = s
		}
	}
	return p
}

// run runs the steps concurrently, subject to their waits. It returns an error that combines the failures of all steps.
// Failed deletions after the module's task are left to a cleanup and cause no error.
func (x *providers) run(ctx context.Context) error {
	task := x.task
	place := make(map[*plan.Step]int32, len(task.Steps))
	var waits dag.Graph
	for i, s := range task.Steps {
		place[s] = int32(i)
		for _, a := range s.After {
			if to, ok := place[a]; ok {
				waits.To = append(waits.To, to)
				x.awaited[a] = true
			}
		}
		waits.End()
	}
	visited := make([]bool, len(task.Steps))
	err := waits.Walk(ctx, dag.WalkOptions{Parallelism: x.Parallelism, StopOnError: x.StopOnError}, func(ctx context.Context, i int32) error {
		if err := x.Interrupted(ctx); err != nil {
			return err
		}
		s := task.Steps[i]
		if slices.ContainsFunc(s.After, x.failedBefore) {
			return errSkipped
		}
		visited[i] = true
		if err := x.step(ctx, task.Number, s); err != nil {
			return err
		}
		x.setDone(s)
		return nil
	})
	err = errors.Join(err, x.awaitResults(ctx))
	if ended := x.Interrupted(ctx); ended != nil && err != nil {
		return ended
	}
	if err == nil {
		return nil
	}
	if err := x.skip(ctx, task, visited); err != nil {
		return err
	}
	return x.verdict(err)
}

// awaitResults waits until all results of steps are stored.
func (x *providers) awaitResults(ctx context.Context) error {
	var errs []error
	for _, wait := range x.results {
		errs = append(errs, wait())
	}
	x.results = nil
	err := errors.Join(errs...)
	if err != nil && x.Interrupted(ctx) == nil {
		x.fail(err.Error())
	}
	return err
}

// errSkipped is the error of a step that depends on a step of an earlier task that failed.
var errSkipped = errors.New("skipped")

// failedBefore reports whether a step is a failed deletion in an earlier task.
func (x *providers) failedBefore(s *plan.Step) bool {
	return s.Kind == plan.Delete && x.isLeft(s.Old)
}

// skip adds an event for each step that was skipped because of a failure.
func (x *providers) skip(ctx context.Context, task plan.Task, visited []bool) error {
	return x.record(context.WithoutCancel(ctx), func(t *journal.Tx, d store.Job) error {
		for i, s := range task.Steps {
			if !visited[i] {
				t.Note(d, store.Event{Task: task.Number, URN: string(s.URN), Source: sourceOf(s.New), Kind: s.Kind.String(), State: store.Skipped})
			}
		}
		return nil
	})
}

// verdict returns the error of a task, given the joined error of its steps.
func (x *providers) verdict(err error) error {
	if x.isAfterModule() {
		return nil
	}
	var ask *AskError
	var key *secret.KeyError
	switch {
	case errors.As(err, &ask):
		return ask
	case errors.As(err, &key):
		return key
	}
	return &stepsError{slices.Clone(x.failures)}
}

func (x *providers) step(ctx context.Context, task int, s *plan.Step) error {
	var err error
	if s.Kind == plan.Delete {
		err = x.delete(ctx, task, s)
	} else {
		err = x.change(ctx, task, s)
	}
	if err != nil && x.Interrupted(ctx) == nil {
		x.fail(failureOf(s, err))
	}
	return err
}

// change runs a step that reads, creates, imports, or changes a resource. The step may do less than planned, since its inputs
// are now known.
func (x *providers) change(ctx context.Context, task int, s *plan.Step) error {
	limited, cancel := context.WithTimeout(x.Calls, x.Timeout)
	defer cancel()
	again, err := x.plan.Again(limited, s, s.Old != nil && x.isDeleted(s.Old))
	if err == nil {
		err = x.allow(s, again)
	}
	if err != nil {
		return x.refuse(ctx, task, s, err)
	}
	c := &call{new: again.New, references: x.plan.References(s), caller: x.Caller}
	if again.New != again.Old {
		again.New.Referents = c.referents(nil)
	}
	switch again.Kind {
	case plan.Create, plan.Replace:
	case plan.Update:
		c.old = again.Old
	case plan.Read:
		if !again.Waits() {
			x.plan.Record(s, again)
			return x.recordRead(task, again.New)
		}
	default:
		x.plan.Record(s, withNew(again, c.new))
		return x.noteDone(ctx, task, again, c.new)
	}
	for {
		if err := x.recordIntent(ctx, task, again.Kind, c); err != nil {
			return err
		}
		o := x.makeCall(ctx, c, false)
		isDone := o.state == store.Done && !o.again
		end := x.recordOutcome
		if isDone && x.awaited[s] {
			end = x.recordOutcomeSoon
		}
		if err := end(ctx, c, o); err != nil {
			return err
		}
		switch {
		case isDone:
			x.plan.Record(s, withNew(again, o.resource))
			return nil
		case !o.again || o.err != nil && c.attempts > x.Retries || x.Interrupted(ctx) != nil:
			return o.err
		}
		if o.err != nil {
			delay := x.delay(c.attempts, o.err)
			if !time.Now().Add(delay).Before(x.deadline(c)) {
				return x.outOfTime(c, o.err)
			}
			if err := x.waitForRetry(ctx, c, delay, c.attempts, o.err); err != nil {
				return err
			}
		}
		// The resource exists, so update it to make the remaining changes.
		target := *again.New
		target.ID = o.resource.ID
		c = &call{
			old: o.resource, new: &target, references: c.references, caller: c.caller,
			limit: c.limit, until: c.until, attempts: c.attempts,
		}
		again = withNew(again, &target)
	}
}

// recordOutcomeSoon is like recordOutcome, but for a step that other steps wait for. The result is stored in the same
// transaction as their intents, unless those take too long to decide.
func (x *providers) recordOutcomeSoon(_ context.Context, c *call, o outcome) error {
	f, err := x.result(c, o)
	if err != nil {
		return err
	}
	x.writeSoon(f)
	return nil
}

func (x *providers) writeSoon(f func(*journal.Tx, store.Job) error) {
	wait := x.journal.WriteSoon(x.fenced(f))
	x.resultsMu.Lock()
	defer x.resultsMu.Unlock()
	x.results = append(x.results, wait)
}

// recordRead stores what was read when the deployment was planned, so that an abort or a retry finds it.
func (x *providers) recordRead(task int, r *graph.Resource) (err error) {
	row := store.Step{
		Deployment: x.Job.ID, Number: x.number(), Task: task, Kind: plan.Read.String(), URN: string(r.URN), State: store.Done,
	}
	if row.New, err = x.text(r); err == nil {
		x.writeSoon(func(t *journal.Tx, _ store.Job) error { return t.PutStep(row) })
	}
	return err
}

// delete runs the deletion of a resource. It is a no-op if the resource is not replaced after all or if a kept version
// contains it.
func (x *providers) delete(ctx context.Context, task int, s *plan.Step) error {
	if !x.isAfterModule() {
		needed, err := x.isNeeded(ctx, s)
		if err != nil || !needed {
			return err
		}
	} else if !x.isLeft(s.Old) {
		return nil
	}
	if err := cmp.Or(x.planner.CheckHandler(s.Old), x.released(s.Old), x.allow(s, s)); err != nil {
		return x.refuse(ctx, task, s, err)
	}
	c := &call{old: s.Old, references: x.plan.References(s), caller: x.callerOf(s.Old)}
	if err := x.recordIntent(ctx, task, s.Kind, c); err != nil {
		return err
	}
	o := x.makeCall(ctx, c, false)
	if err := x.recordOutcome(ctx, c, o); err != nil {
		return err
	}
	if o.state != store.Done {
		return o.err
	}
	x.setDeleted(s.Old)
	return nil
}

// released returns an error if a remaining resource, such as one changed by an aborted deployment, refers to r, which a
// cleanup will delete.
func (x *providers) released(r *graph.Resource) error {
	if x.users == nil {
		return nil
	}
	for _, user := range x.users(r) {
		if !x.isDeleted(user) {
			return fmt.Errorf("%s still refers to it", graph.ShortName(user.URN))
		}
	}
	return nil
}

// isNeeded reports whether a deletion before the module's task must take place. It first decides a replacement that is
// only possible, unless that depends on steps that run after the deletion.
func (x *providers) isNeeded(ctx context.Context, s *plan.Step) (bool, error) {
	replacement := x.replacements[s.Old]
	if !s.Replaced || replacement == nil || !replacement.Possible {
		return true, nil
	}
	for _, a := range replacement.After {
		if a != s && !x.isDone(a) {
			return true, nil
		}
	}
	again, err := x.plan.Again(ctx, replacement, false)
	if err != nil {
		return false, err
	}
	return again.Kind == plan.Replace, nil
}

// failureOf returns the message about a failed step.
func failureOf(s *plan.Step, err error) string {
	if errors.As(err, new(*plan.Error)) { // a plan.Error already names the resource
		return err.Error()
	}
	return fmt.Sprintf("%s: %v", s.URN, err)
}

type stepsError struct{ messages []string }

// mostFailures is the maximum number of failures in a deployment's message.
const mostFailures = 5

// Error returns up to five failures, one per line, and the number of further ones.
func (e *stepsError) Error() string {
	lines := e.messages
	if more := len(lines) - mostFailures; more > 0 {
		lines = append(slices.Clone(lines[:mostFailures]), fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}
