package storetest

import (
	"errors"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lumi-idl/lumi/deploy/store"
)

func environments(t *T) {
	want(t, nil, store.Tx.Environments)
	prod, dev := t.environment("prod"), t.environment("dev")
	want(t, []store.Environment{dev, prod}, store.Tx.Environments)
	dev.Last, dev.Key, dev.Serial, dev.Lineage = 9, "", 0, "other"
	d := t.add(store.Job{Environment: "dev", State: store.Wait})
	t.write(func(tx store.Tx) error { return tx.PutEnvironment(dev) })
	want(t, dev, func(tx store.Tx) (store.Environment, error) { return tx.Environment("dev") })
	want(t, prod, func(tx store.Tx) (store.Environment, error) { return tx.Environment("prod") })
	want(t, []store.Job{d}, func(tx store.Tx) ([]store.Job, error) { return tx.Queue("dev") })
}

// fill adds an environment with a row of each kind, and returns its deployment.
func (t *T) fill(name string) store.Job {
	t.Helper()
	t.environment(name)
	d := t.add(store.Job{Environment: name, State: store.Running})
	t.write(func(tx store.Tx) error {
		return errors.Join(
			tx.PutVertices(name, []store.Vertex{{Key: "key", Text: name}}, nil),
			tx.PutTask(store.Task{Deployment: d.ID, Number: 1}),
			tx.PutStep(store.Step{Deployment: d.ID, Number: 1}),
			tx.AddEvents(name, []store.Event{{Deployment: d.ID, Message: name}}))
	})
	return d
}

// count returns how many rows an environment and its deployment have.
func count(name string, id int64) func(tx store.Tx) (int, error) {
	return func(tx store.Tx) (int, error) {
		vertices, err := tx.Vertices(name)
		queue, err2 := tx.Queue(name)
		tasks, err3 := tx.Tasks(id)
		steps, err4 := tx.Steps(id)
		events, err5 := tx.Events(name, id, 0, 10)
		n := len(vertices) + len(queue) + len(tasks) + len(steps) + len(events)
		return n, errors.Join(err, err2, err3, err4, err5)
	}
}

func deleteEnvironment(t *T) {
	dev, prod := t.fill("dev"), t.fill("prod")
	want(t, 5, count("prod", prod.ID))
	t.write(func(tx store.Tx) error { return tx.DeleteEnvironment("prod") })
	t.environment("prod")
	want(t, 0, count("prod", prod.ID))
	want(t, 5, count("dev", dev.ID))
	if d := t.fill("prod"); d.ID <= prod.ID {
		t.Errorf("got ID %d after %d", d.ID, prod.ID)
	}
	want(t, []store.Event{{Serial: 3, Deployment: prod.ID + 1, Message: "prod"}},
		func(tx store.Tx) ([]store.Event, error) { return tx.Events("prod", 0, 0, 10) })
}

func vertices(t *T) {
	e := t.environment("dev")
	t.fill("other")
	puts := func(put []store.Vertex, gone ...string) {
		t.Helper()
		t.write(func(tx store.Tx) error { return tx.PutVertices("dev", put, gone) })
	}
	puts([]store.Vertex{{Key: "b", Text: "1"}, {Key: "a", Text: "2"}, {Key: "é", Text: "3"}, {Key: "B", Text: "4"}})
	puts([]store.Vertex{{Key: "aa", Text: "5"}, {Key: "b", Text: "6"}}, "a", "none", "key")
	puts(nil)
	want(t, []store.Vertex{{Key: "B", Text: "4"}, {Key: "aa", Text: "5"}, {Key: "b", Text: "6"}, {Key: "é", Text: "3"}},
		func(tx store.Tx) ([]store.Vertex, error) { return tx.Vertices("dev") })
	for _, test := range []struct {
		from  string
		limit int
		want  string
	}{{"", 9, "Baabé"}, {"aa", 2, "aab"}, {"aa\x00", 1, "b"}, {"c", 9, "é"}, {"é\x00", 1, ""}, {"", 0, ""}} {
		want(t, test.want, func(tx store.Tx) (keys string, err error) {
			found, err := tx.VerticesFrom("dev", test.from, test.limit)
			for _, v := range found {
				keys += v.Key
			}
			return keys, err
		})
	}
	e.Serial += 3
	want(t, e, func(tx store.Tx) (store.Environment, error) { return tx.Environment("dev") })
	want(t, []store.Vertex{{Key: "key", Text: "other"}}, func(tx store.Tx) ([]store.Vertex, error) { return tx.Vertices("other") })
}

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
		t.Errorf("got ID %d after %d", next.ID, d.ID)
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
		store.Cancelled, store.Superseded} {
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
	for _, s := range []store.State{store.Done, store.Wait, store.Aborted, store.Cancelled, store.Failed, store.Superseded} {
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
			t.Errorf("got (+), want (-):\n%s", diff)
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
	d, other := t.waiting(), t.fill("other")
	from := t.add(store.Job{Environment: "dev"})
	all := []store.Step{{Deployment: from.ID, Number: 1, URN: "a"}, {Deployment: from.ID, Number: 2, URN: "b"}}
	t.write(func(tx store.Tx) error { return errors.Join(tx.PutStep(all[0]), tx.PutStep(all[1])) })
	move := func(to int64) func(tx store.Tx) error {
		return func(tx store.Tx) error { return tx.MoveSteps(from.ID, to) }
	}
	if err := t.Write(t.Context(), "dev", move(other.ID)); err == nil {
		t.Error("moved steps to a deployment that has one")
	}
	t.wantError(store.ErrNotFound, move(99))
	want(t, all, func(tx store.Tx) ([]store.Step, error) { return tx.Steps(from.ID) })
	t.write(move(d.ID))
	all[0].Deployment, all[1].Deployment = d.ID, d.ID
	want(t, all, func(tx store.Tx) ([]store.Step, error) { return tx.Steps(d.ID) })
	want(t, nil, func(tx store.Tx) ([]store.Step, error) { return tx.Steps(from.ID) })
}

func events(t *T) {
	t.environment("dev")
	t.environment("prod")
	full := store.Event{
		Serial: 99, Time: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC), Deployment: 1, Name: "a[5]", Task: 2, URN: "urn", Source: "main.ts:1:2", Kind: "move",
		Was: "was", ID: "id", State: store.Done, Level: "info", Message: "message",
	}
	t.write(func(tx store.Tx) error {
		return errors.Join(tx.AddEvents("dev", []store.Event{full, {Deployment: 2}}), tx.AddEvents("prod", []store.Event{{Deployment: 3}}),
			tx.AddEvents("dev", nil), tx.AddEvents("dev", []store.Event{{Deployment: 1}, {}}))
	})
	full.Serial = 1
	all := []store.Event{full, {Serial: 2, Deployment: 2}, {Serial: 4, Deployment: 1}, {Serial: 5}}
	for _, test := range []struct {
		deployment, after int64
		limit             int
		want              []store.Event
	}{
		{0, 0, 9, all}, {0, 0, 3, all[:3]}, {0, 1, 2, all[1:3]}, {0, 3, 9, all[2:]}, {0, 5, 9, nil}, {0, 0, 0, nil},
		{1, 0, 9, []store.Event{full, all[2]}}, {1, 1, 9, all[2:3]}, {1, 0, 1, all[:1]}, {3, 0, 9, nil}, {9, 0, 9, nil},
	} {
		want(t, test.want, func(tx store.Tx) ([]store.Event, error) {
			return tx.Events("dev", test.deployment, test.after, test.limit)
		})
	}
}

// statements returns each statement that writes, of an environment and a deployment.
func statements(name string, id int64) map[string]func(tx store.Tx) error {
	return map[string]func(tx store.Tx) error{
		"PutEnvironment":    func(tx store.Tx) error { return tx.PutEnvironment(store.Environment{Name: name, Serial: 99}) },
		"DeleteEnvironment": func(tx store.Tx) error { return tx.DeleteEnvironment(name) },
		"PutVertices":       func(tx store.Tx) error { return tx.PutVertices(name, []store.Vertex{{Key: "a"}}, nil) },
		"AddDeployment": func(tx store.Tx) error {
			_, err := tx.AddJob(store.Job{Environment: name}, store.Content{})
			return err
		},
		"PutDeployment": func(tx store.Tx) error { return tx.PutJob(store.Job{ID: id, Environment: "dev"}) },
		"Touch":         touching(id, 0, store.Running),
		"PutTask":       func(tx store.Tx) error { return tx.PutTask(store.Task{Deployment: id}) },
		"DeleteTasks":   func(tx store.Tx) error { return tx.DeleteTasks(id) },
		"PutStep":       func(tx store.Tx) error { return tx.PutStep(store.Step{Deployment: id}) },
		"DeleteSteps":   func(tx store.Tx) error { return tx.DeleteSteps(id) },
		"PutContent":    func(tx store.Tx) error { return tx.PutContent(id, store.Content{}) },
		"MoveSteps":     func(tx store.Tx) error { return tx.MoveSteps(2, id) },
		"AddEvents":     func(tx store.Tx) error { return tx.AddEvents(name, []store.Event{{}}) },
	}
}

func notFound(t *T) {
	d := t.waiting()
	all := statements("none", 99)
	for _, name := range []string{"PutEnvironment", "Touch", "DeleteTasks", "DeleteSteps"} {
		delete(all, name)
	}
	all["Environment"] = func(tx store.Tx) error { _, err := tx.Environment("none"); return err }
	all["Deployment"] = func(tx store.Tx) error { _, err := tx.Job(99); return err }
	all["Content"] = func(tx store.Tx) error { _, err := tx.Content(99); return err }
	all["moved"] = func(tx store.Tx) error { return tx.PutJob(store.Job{ID: d.ID, Environment: "none"}) }
	for name, f := range all {
		t.write(func(tx store.Tx) error {
			if err := f(tx); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("%s: got error %v, want %v", name, err, store.ErrNotFound)
			}
			return tx.PutStep(store.Step{Deployment: d.ID, URN: name}) // the transaction goes on
		})
		want(t, name, func(tx store.Tx) (string, error) { s, err := tx.Steps(d.ID); return s[0].URN, err })
	}
	want(t, nil, func(tx store.Tx) ([]store.Vertex, error) { return tx.Vertices("none") })
	want(t, nil, func(tx store.Tx) ([]store.Job, error) { return tx.Queue("none") })
}

func text(t *T) {
	t.environment("dev")
	all := []store.Vertex{
		{Key: "a\x00a", Text: "\x00"}, {Key: "a\x00b", Text: "null\x00\x00end"}, {Key: "b", Text: ""},
		{Key: "c", Text: "ünïcödé 🚀 \u2028 \ufeff \ufffd"}, {Key: "d", Text: `'";--%_\` + "\r\n"}, {Key: "e", Text: strings.Repeat("0123456789", 1<<20)},
	}
	t.write(func(tx store.Tx) error { return tx.PutVertices("dev", all, nil) })
	want(t, all, func(tx store.Tx) ([]store.Vertex, error) { return tx.Vertices("dev") })
	t.write(func(tx store.Tx) error { return tx.PutVertices("dev", nil, []string{"a\x00b", "a", "e"}) })
	want(t, []store.Vertex{all[0], all[2], all[3], all[4]}, func(tx store.Tx) ([]store.Vertex, error) { return tx.Vertices("dev") })
}

func times(t *T) {
	d := t.waiting()
	zone := time.FixedZone("zone", 5400)
	for _, at := range []time.Time{
		{}, time.Now(), time.Date(2026, 1, 2, 3, 4, 5, 123456789, zone), time.Unix(0, 0), time.Date(1969, 12, 31, 1, 1, 1, 999, zone),
		time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC),
	} {
		d.Expires, d.Ended = at, at
		t.write(func(tx store.Tx) error {
			return errors.Join(tx.PutJob(d), tx.PutStep(store.Step{Deployment: d.ID, Deadline: at}))
		})
		// Not cmp, which takes times in two zones for equal.
		stored := at.UTC().Truncate(time.Microsecond)
		err := t.Read(t.Context(), func(tx store.Tx) error {
			got, err := tx.Job(d.ID)
			steps, err2 := tx.Steps(d.ID)
			if got.Expires != stored || got.Ended != stored || steps[0].Deadline != stored || !got.Created.IsZero() {
				t.Errorf("got %#v, %#v and %#v, want %#v", got.Expires, got.Ended, steps[0].Deadline, stored)
			}
			return errors.Join(err, err2)
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func uses(t *T) {
	d := t.waiting()
	get := func(tx store.Tx) ([]string, error) { d, err := tx.Job(d.ID); return d.Uses, err }
	for _, list := range [][]string{nil, {}, {"a"}, {"", "a\x00\"b", "<é>"}} {
		d.Uses = append([]string{}, list...)
		t.write(func(tx store.Tx) error { return tx.PutJob(d) })
		if len(list) > 0 {
			d.Uses[0] = "changed" // the caller's
		}
		want(t, list, func(tx store.Tx) ([]string, error) {
			if got, _ := get(tx); len(got) > 0 {
				got[0] = "changed" // the reader's
			}
			return get(tx)
		})
	}
}
