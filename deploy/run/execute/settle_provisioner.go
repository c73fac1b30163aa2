package execute

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/run/journal"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// settleProvisioners settles provisioner tasks started by an earlier executor. It polls tasks that have a token. The
// other tasks are restarted by the next plan.
func (x *execution) settleProvisioners(ctx context.Context) error {
	var tasks []store.Task
	var rows []stored
	err := x.journal.Read(ctx, func(t *journal.Tx) (err error) {
		if tasks, err = t.Tasks(x.Job.ID); err != nil || len(tasks) == 0 {
			return err
		}
		g, err := t.Graph()
		if err != nil {
			return err
		}
		x.graph = g
		rows, err = x.stored(t, g)
		return err
	})
	if err != nil {
		return err
	}
	for _, task := range tasks {
		var open []stored
		made := map[urn.URN]*graph.Resource{}
		for _, s := range rows {
			switch {
			case s.Task != task.Number:
			case s.State == store.Started || s.State == store.Unknown:
				open = append(open, s)
			case s.new != nil:
				made[s.new.URN] = s.new
			}
		}
		if len(open) > 0 && task.Provisioner != Providers && task.Provisioner != Module {
			by := &provisioner{execution: x, Provisioner: x.Provisioners[task.Provisioner], name: task.Provisioner, row: &task}
			if err := by.settle(ctx, x.maybeGiven(rows), open, made); err != nil {
				return err
			}
		}
	}
	return nil
}

// settle records the outcome of the task's steps that have no result. given lists the vertices that may have been
// passed to the provisioner. made contains the resources of the other steps by URN.
func (x *provisioner) settle(ctx context.Context, given []plan.Vertex, open []stored, made map[urn.URN]*graph.Resource) error {
	task := x.row
	if x.Provisioner == nil {
		return fmt.Errorf("provisioner %s has not finished task %d: install lumi-provisioner-%[1]s", x.name, task.Number)
	}
	o := outcome{state: store.Failed, err: errors.New("the executor ended before it received the provisioner's token: the task is restarted")}
	if task.Token == "" || task.Parts > 1 {
		for _, s := range open {
			if err := x.awaitCall(ctx, s); err != nil {
				return err
			}
		}
	}
	var metadata map[string]lumigl.Value
	if task.Token != "" {
		status, err := x.poll(ctx, plan.Input{})
		if errors.Is(err, job.ErrStopped) || errors.Is(err, job.ErrAborted) {
			return err
		}
		if err == nil && task.Parts == 1 {
			err = checkKeys(status.Metadata, given)
		}
		switch {
		case err != nil:
			o.err = x.wrapError(err, plan.Input{})
		case task.Parts > 1:
			o.err = errors.New("the executor ended before the provisioner's additional tasks were done: all of them are restarted")
		default:
			o, metadata = outcome{state: store.Done}, status.Metadata
		}
	}
	for _, s := range open {
		ended := o
		if s.new != nil && ended.state == store.Done {
			if r, err := x.filled(s.new, made); err != nil {
				ended = outcome{state: store.Failed, err: err}
			} else {
				ended.resource = provisioned(s.old, r, x.name, metadata)
				made[r.URN] = ended.resource
			}
		}
		if s.new != nil && ended.state == store.Failed {
			ended.resource = maybeApplied(s.old, s.new, x.name)
		}
		if err := x.recordOutcome(ctx, &call{row: s.Step, old: s.old, new: s.new}, ended); err != nil {
			return err
		}
	}
	return nil
}

// maybeGiven returns the vertices that may have been passed to a provisioner: the results of steps and the module's
// other vertices.
func (x *execution) maybeGiven(steps []stored) (all []plan.Vertex) {
	for _, s := range steps {
		if s.new != nil {
			all = append(all, plan.Vertex{Resource: s.new})
		}
	}
	for _, v := range x.graph.Versions(x.Job.Module) {
		for r := range v.Resources() {
			all = append(all, plan.Vertex{Resource: r})
		}
	}
	for _, p := range x.graph.Pending(x.Job.Module) {
		all = append(all, plan.Vertex{Resource: p.Resource})
	}
	return all
}

// grace is the time by which a call may exceed its deadline, since a provider takes time to end a call.
const grace = 10 * time.Second

// awaitCall waits until a call by an executor that may still be running is over, or the executor is forgotten.
func (x *execution) awaitCall(ctx context.Context, s stored) error {
	if s.State != store.Started || x.IsDead(s.Owner) {
		return nil
	}
	over := s.Deadline.Add(grace)
	var left time.Duration
	for isShown := false; ; isShown = true {
		isOpen := func(row store.Step) bool { return row.Number == s.Number && row.State == store.Started }
		err := x.journal.Read(ctx, func(t *journal.Tx) error {
			rows, err := t.Steps(x.Job.ID)
			if err != nil {
				return err
			}
			if left = over.Sub(t.Now()); !slices.ContainsFunc(rows, isOpen) {
				left = 0
			}
			return nil
		})
		if err != nil && !isShown || err == nil && left <= 0 { // If the store fails later, the lease decides.
			return err
		}
		if !isShown {
			x.show("info", s.URN, fmt.Sprintf("waiting until %s for a call by %s", over.Format(time.TimeOnly), s.Owner))
		}
		if err := x.Sleep(ctx, min(left, 5*time.Second)); err != nil {
			return err
		}
	}
}
