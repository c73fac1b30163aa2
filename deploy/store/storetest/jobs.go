package storetest

import (
	"errors"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lumi-idl/lumi/deploy/store"
)

func deployments(t *T) {
	t.environment("dev")
	t.environment("prod")
	now := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	d := store.Job{
		ID: 77, Environment: "dev", Number: 5, Module: "m", Kind: "deploy", Uses: []string{"b", "a"}, State: store.Running, Fence: 3,
		Owner: "host:1", Expires: now, Abort: true, Message: "message", Created: now.Add(1e6), Ended: now.Add(2e6),
	}
	d = t.add(d)
	next := t.add(store.Job{Environment: "prod", Place: 1, State: store.Wait})
	if next.ID <= d.ID {
		t.Errorf("AddJob() = %d, want an ID greater than %d", next.ID, d.ID)
	}
	get := func(tx store.Tx) (store.Job, error) { return tx.Job(d.ID) }
	want(t, d, get)
	want(t, next, func(tx store.Tx) (store.Job, error) { return tx.Job(next.ID) })
	content := store.Content{Desired: "{}", Shown: "shown", Request: "request"}
	want(t, content, func(tx store.Tx) (store.Content, error) { return tx.Content(d.ID) })
	d = store.Job{ID: d.ID, Environment: "dev", Place: 9, State: store.Failed}
	t.write(func(tx store.Tx) error { return tx.PutJob(d) })
	want(t, d, get)
	want(t, content, func(tx store.Tx) (store.Content, error) { return tx.Content(d.ID) })
	sealed := store.Content{Desired: "[]", Shown: "sealed", Request: "again"}
	t.write(func(tx store.Tx) error { return tx.PutContent(d.ID, sealed) })
	want(t, d, get)
	want(t, sealed, func(tx store.Tx) (store.Content, error) { return tx.Content(d.ID) })
	want(t, content, func(tx store.Tx) (store.Content, error) { return tx.Content(next.ID) })
}

func queue(t *T) {
	t.environment("dev")
	t.fill("other")
	var waiting []store.Job
	for _, s := range []store.State{store.Wait, store.Running, store.Done, store.Ask, store.Failed, store.Aborting, store.Aborted,
		store.Canceled, store.Superseded} {
		if d := t.add(store.Job{Environment: "dev", State: s}); !s.IsFinal() {
			waiting = append(waiting, d)
		}
	}
	second := t.add(store.Job{Environment: "dev", Place: waiting[0].ID, State: store.Wait})
	first := t.add(store.Job{Environment: "dev", Place: 1, State: store.Wait})
	last := waiting[1]
	last.Place = first.ID + 1
	t.write(func(tx store.Tx) error { return tx.PutJob(last) })
	want(t, []store.Job{first, waiting[0], second, waiting[2], waiting[3], waiting[4], last},
		func(tx store.Tx) ([]store.Job, error) { return tx.Queue("dev") })
}

func history(t *T) {
	t.environment("dev")
	t.environment("other")
	var ended []store.Job
	for _, s := range []store.State{store.Done, store.Wait, store.Aborted, store.Canceled, store.Failed, store.Superseded} {
		t.add(store.Job{Environment: "other", State: store.Done})
		if d := t.add(store.Job{Environment: "dev", State: s}); s.IsFinal() {
			ended = append([]store.Job{d}, ended...)
		}
	}
	for _, test := range []struct {
		before int64
		limit  int
		want   []store.Job
	}{
		{0, 10, ended}, {0, 2, ended[:2]}, {ended[1].ID, 10, ended[2:]}, {ended[1].ID, 1, ended[2:3]}, {ended[3].ID, 9, nil}, {0, 0, nil},
	} {
		want(t, test.want, func(tx store.Tx) ([]store.Job, error) { return tx.History("dev", test.before, test.limit) })
	}
}

func touch(t *T) {
	t.environment("dev")
	d := t.add(store.Job{Environment: "dev", State: store.Running, Fence: 4})
	for _, test := range []struct {
		id, fence int64
		states    []store.State
		want      error
	}{
		{d.ID, 4, []store.State{store.Running}, nil}, {d.ID, 4, []store.State{store.Aborting, store.Running}, nil},
		{d.ID, 3, []store.State{store.Running}, store.ErrFenced}, {d.ID, 5, []store.State{store.Running}, store.ErrFenced},
		{d.ID, 4, []store.State{store.Aborting}, store.ErrFenced}, {d.ID, 4, nil, store.ErrFenced},
		{d.ID + 1, 4, []store.State{store.Running}, store.ErrFenced}, {d.ID + 1, 0, []store.State{""}, store.ErrFenced},
	} {
		t.wantError(test.want, touching(test.id, test.fence, test.states...))
	}
	t.write(func(tx store.Tx) error {
		got, err := tx.Touch(d.ID, 4, store.Running)
		if diff := cmp.Diff(d, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("Touch() (-want +got):\n%s", diff)
		}
		return err
	})
}

func touching(id, fence int64, states ...store.State) func(store.Tx) error {
	return func(tx store.Tx) error {
		_, err := tx.Touch(id, fence, states...)
		return err
	}
}

func tasks(t *T) {
	d, other := t.waiting(), t.fill("other")
	second := store.Task{
		Deployment: d.ID, Number: 2, Provisioner: "aws", Steps: 3, State: store.Polling, Token: "token", Parts: 2, Message: "message",
	}
	first := store.Task{Deployment: d.ID, Number: 1, State: store.Failed}
	get := func(tx store.Tx) ([]store.Task, error) { return tx.Tasks(d.ID) }
	t.write(func(tx store.Tx) error { return errors.Join(tx.PutTask(second), tx.PutTask(first)) })
	want(t, []store.Task{first, second}, get)
	second = store.Task{Deployment: d.ID, Number: 2, State: store.Done}
	t.write(func(tx store.Tx) error { return tx.PutTask(second) })
	want(t, []store.Task{first, second}, get)
	t.write(func(tx store.Tx) error { return tx.DeleteTasks(d.ID) })
	want(t, nil, get)
	want(t, 5, count("other", other.ID))
}

func steps(t *T) {
	d, other := t.waiting(), t.fill("other")
	second := store.Step{
		Deployment: d.ID, Number: 12, Task: 2, State: store.Started, Kind: "update", URN: "urn", OldKey: "key", OldID: "id",
		New: "new", Token: "token", Owner: "owner", Deadline: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC), Message: "message",
	}
	first := store.Step{Deployment: d.ID, Number: 3, State: store.Failed}
	get := func(tx store.Tx) ([]store.Step, error) { return tx.Steps(d.ID) }
	t.write(func(tx store.Tx) error { return errors.Join(tx.PutStep(second), tx.PutStep(first)) })
	want(t, []store.Step{first, second}, get)
	first = store.Step{Deployment: d.ID, Number: 3, State: store.Done}
	t.write(func(tx store.Tx) error { return tx.PutStep(first) })
	want(t, []store.Step{first, second}, get)
	t.write(func(tx store.Tx) error { return tx.DeleteSteps(d.ID, store.Unknown, store.Started) })
	want(t, []store.Step{second}, get)
	t.write(func(tx store.Tx) error { return tx.DeleteSteps(d.ID) })
	want(t, nil, get)
	want(t, 5, count("other", other.ID))
}

func moveSteps(t *T) {
	d := t.waiting()
	from := t.add(store.Job{Environment: "dev"})
	all := []store.Step{{Deployment: from.ID, Number: 1, URN: "a"}, {Deployment: from.ID, Number: 2, URN: "b"}}
	t.write(func(tx store.Tx) error { return errors.Join(tx.PutStep(all[0]), tx.PutStep(all[1])) })
	move := func(to int64) func(tx store.Tx) error {
		return func(tx store.Tx) error { return tx.MoveSteps(from.ID, to) }
	}
	full := t.add(store.Job{Environment: "dev"})
	t.write(func(tx store.Tx) error { return tx.PutStep(store.Step{Deployment: full.ID}) })
	if err := t.Write(t.Context(), "dev", move(full.ID)); err == nil {
		t.Error("MoveSteps to a deployment with steps returned nil, want an error")
	}
	t.wantError(store.ErrNotFound, move(99))
	want(t, all, func(tx store.Tx) ([]store.Step, error) { return tx.Steps(from.ID) })
	t.write(move(d.ID))
	all[0].Deployment, all[1].Deployment = d.ID, d.ID
	want(t, all, func(tx store.Tx) ([]store.Step, error) { return tx.Steps(d.ID) })
	want(t, nil, func(tx store.Tx) ([]store.Step, error) { return tx.Steps(from.ID) })
}

func prune(t *T) {
	old, other := t.fill("dev"), t.fill("other")
	kept := t.add(store.Job{Environment: "dev", State: store.Done})
	first, second := t.run("dev", "default", store.Done), t.run("dev", "default", store.Done)
	t.write(func(tx store.Tx) error {
		return errors.Join(
			tx.AddEvents("dev", []store.Event{{Deployment: kept.ID, Message: "kept"}, {Deployment: old.ID}, {Deployment: kept.ID}}),
			tx.PutTaskRuns(first.ID, []store.TaskRun{{Number: 1, Task: "a", State: store.Done}, {Number: 2, Task: "b", State: store.Done}}),
			tx.PutTaskRuns(second.ID, []store.TaskRun{{Number: 1, Task: "a", State: store.Failed}, {Number: 2, Task: "b", State: store.Skipped}}),
		)
	})
	third := t.run("dev", "default", store.Failed)
	t.write(func(tx store.Tx) error {
		return tx.PutTaskRuns(third.ID, []store.TaskRun{{Task: "a", State: store.Done}})
	})
	deleted := func(want int, jobs ...int64) {
		t.Helper()
		t.write(func(tx store.Tx) error {
			got, err := tx.Prune("dev", jobs)
			if got != want {
				t.Errorf("Prune(%v) = %d, want %d", jobs, got, want)
			}
			return err
		})
	}
	deleted(0)
	deleted(0, other.ID, 99)
	deleted(2, old.ID, first.ID, second.ID, third.ID)
	want(t, 5, count("other", other.ID))
	want(t, 1, count("dev", old.ID)) // the vertex
	want(t, []store.Job{third, first}, func(tx store.Tx) ([]store.Job, error) { return tx.Runs("dev", 0, 9) })
	want(t, nil, func(tx store.Tx) ([]store.TaskRun, error) { return tx.TaskRuns(second.ID) })
	want(t, []store.TaskRun{{Task: "a", State: store.Done}, {Number: 2, Task: "b", State: store.Done}},
		func(tx store.Tx) ([]store.TaskRun, error) { return tx.LastTaskRuns("dev", "default") })
	want(t, []store.Event{{Serial: 3, Deployment: kept.ID, Message: "kept"}, {Serial: 5, Deployment: kept.ID}},
		func(tx store.Tx) ([]store.Event, error) { return tx.Events("dev", 0, 0, 9) })
	want(t, []store.Event{{Serial: 5, Deployment: kept.ID}},
		func(tx store.Tx) ([]store.Event, error) { return tx.Events("dev", kept.ID, 3, 9) })
}

func uses(t *T) {
	d := t.waiting()
	get := func(tx store.Tx) ([]string, error) { d, err := tx.Job(d.ID); return d.Uses, err }
	for _, list := range [][]string{nil, {}, {"a"}, {"", "a\x00\"b", "<é>"}} {
		d.Uses = append([]string{}, list...)
		t.write(func(tx store.Tx) error { return tx.PutJob(d) })
		if len(list) > 0 {
			d.Uses[0] = "changed" // changes the caller's slice
		}
		want(t, list, func(tx store.Tx) ([]string, error) {
			if got, _ := get(tx); len(got) > 0 {
				got[0] = "changed" // changes the reader's slice
			}
			return get(tx)
		})
	}
}

func ready(t *T) {
	var now time.Time
	if err := t.Read(t.Context(), func(tx store.Tx) error { now = tx.Now(); return nil }); err != nil {
		t.Fatal(err)
	}
	var ids []int64
	for _, name := range []string{"prod-a", "prod-b", "dev"} {
		t.environment(name)
		for _, d := range []store.Job{
			{State: store.Wait}, {State: store.Wait, Expires: now.Add(time.Hour)}, {State: store.Running, Expires: now.Add(-time.Hour)},
			{State: store.Aborting, Kind: store.Tasks}, {State: store.Failed}, {State: store.Ask}, {State: store.Done},
		} {
			d.Environment = name
			if d = t.add(d); d.State == store.Running || d.State == store.Aborting || d.State == store.Wait && d.Expires.IsZero() {
				ids = append(ids, d.ID)
			}
		}
	}
	for _, test := range []struct {
		prefix string
		after  int64
		limit  int
		want   []int64
	}{
		{"", 0, 99, ids}, {"prod-", 0, 99, ids[:6]}, {"prod-b", 0, 99, ids[3:6]}, {"prod-a", ids[0], 99, ids[1:3]}, {"p", ids[1], 2, ids[2:4]},
		{"dev", ids[8], 99, nil}, {"prod-aa", 0, 99, nil}, {"", 0, 0, nil},
	} {
		want(t, test.want, func(tx store.Tx) (found []int64, err error) {
			rows, err := tx.Ready(test.prefix, test.after, test.limit)
			for _, d := range rows {
				found = append(found, d.ID)
			}
			return found, err
		})
	}
}
