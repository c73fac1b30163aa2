package run

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/run/journal"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

// Work runs the deployments and cleanups of the environment that no process holds, concurrently, until none can start or
// the engine is stopped. It leaves those for which it lacks the key, a plugin, or a provisioner; the reason becomes the
// message of waiting ones. Work reports whether it ran any. It returns only errors of the store and of ctx.
func (e *Engine) Work(ctx context.Context) (worked bool, err error) {
	type result struct {
		id  int64
		err error
	}
	running, left, ended := map[int64]bool{}, map[int64]bool{}, make(chan result)
	for {
		var ready []store.Job
		if err == nil && ctx.Err() == nil {
			if ready, err = e.workable(ctx, func(id int64) bool { return running[id] || left[id] }); err == nil {
				ready, err = e.fitting(ctx, ready, left)
			}
		}
		for _, d := range ready {
			running[d.ID] = true
			go func() { ended <- result{d.ID, e.execute(ctx, d.ID)} }()
		}
		if len(running) == 0 {
			return worked, err
		}
		select {
		case r := <-ended:
			delete(running, r.id)
			worked = worked || r.err == nil
			if r.err != nil && !errors.Is(r.err, errNotReady) && err == nil {
				err = r.err
			}
		case <-time.After(e.Poll): // others may have been queued
		}
	}
}

// workable returns the deployments and cleanups that can be claimed now, except those for which skip returns true.
func (e *Engine) workable(ctx context.Context, skip func(id int64) bool) (ready []store.Job, err error) {
	select {
	case <-e.jobs.Stopping():
		return nil, nil
	default:
	}
	err = e.Journal.Read(ctx, func(t *journal.Tx) error {
		rows, g, err := t.QueueAndGraph()
		if err != nil {
			return err
		}
		ready = slices.DeleteFunc(slices.Clone(rows), func(d store.Job) bool { return skip(d.ID) || !e.IsReady(t.Now(), d, rows, g) })
		return nil
	})
	return ready, err
}

// fitting returns the deployments that this engine can run, and adds the others to left.
func (e *Engine) fitting(ctx context.Context, ready []store.Job, left map[int64]bool) (fits []store.Job, err error) {
	for _, d := range ready {
		reason, err := e.lacks(ctx, d)
		if err != nil {
			return nil, err
		}
		if reason == "" {
			fits = append(fits, d)
			continue
		}
		left[d.ID] = true
		reason = job.Brief(e.Owner + " cannot run it: " + reason)
		err = e.Journal.Write(ctx, func(t *journal.Tx) error {
			now, err := t.Job(d.ID)
			if err != nil || now.State != store.Wait || now.Fence != d.Fence || now.Message == reason {
				return err
			}
			for event, err := range t.Log(d.ID, 0) {
				if err != nil || now.Message != "" && event.Message == reason {
					return err // Workers that lack different things would replace each other's reasons forever.
				}
			}
			now.Message = reason
			t.Note(now, store.Event{Level: "warn", Message: reason})
			return t.PutJob(now)
		})
		if err != nil {
			return nil, err
		}
	}
	return fits, nil
}

// lacks returns what this engine lacks to run a deployment, or "".
func (e *Engine) lacks(ctx context.Context, d store.Job) (reason string, err error) {
	r, _, err := e.RequestOf(ctx, d)
	if err != nil {
		return "", err
	}
	types := map[tokens.Type]bool{}
	if r.Desired != nil {
		for v := range r.Desired.Vertices() {
			types[v.URN().Type()] = true
		}
	}
	err = e.Journal.Read(ctx, func(t *journal.Tx) error {
		environment, err := t.Environment(e.Environment)
		if err == nil && environment.Key != "" && e.Journal.Key == nil {
			reason = "it cannot open the key of " + e.Environment
		}
		g, err2 := t.Graph()
		if err := cmp.Or(err, err2); err != nil {
			return err
		}
		for _, v := range g.Versions(d.Module) {
			for res := range v.Resources() {
				types[res.Type()] = true
			}
		}
		for _, p := range g.Pending(d.Module) {
			types[p.Resource.Type()] = true
		}
		return nil
	})
	for _, t := range slices.Sorted(maps.Keys(types)) {
		if reason == "" && e.Provisioner != nil {
			if _, lack := e.Provisioner(t); lack != nil {
				reason = lack.Error()
			}
		}
	}
	return reason, err
}

// Release gives up the leases of deployments that wait in this process, so that workers can claim them at once.
func (e *Engine) Release(ctx context.Context, ids []int64) error {
	return e.Journal.Write(ctx, func(t *journal.Tx) error {
		for _, id := range ids {
			d, err := t.Job(id)
			if err != nil {
				return err
			}
			if d.State == store.Wait && d.Owner == e.Owner {
				d.Owner, d.Expires = "", time.Time{}
				if err := t.PutJob(d); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
