package storetest

import (
	"errors"
	"strings"
	"time"

	"github.com/lumi-idl/lumi/deploy/store"
)

// statements returns all writing statements for an environment and a deployment, by name.
func statements(name string, id int64) map[string]func(tx store.Tx) error {
	return map[string]func(tx store.Tx) error{
		"PutEnvironment":    func(tx store.Tx) error { return tx.PutEnvironment(store.Environment{Name: name, Serial: 99}) },
		"DeleteEnvironment": func(tx store.Tx) error { return tx.DeleteEnvironment(name) },
		"PutVertices":       func(tx store.Tx) error { return tx.PutVertices(name, []store.Vertex{{Key: "a"}}, nil) },
		"AddDeployment": func(tx store.Tx) error {
			_, err := tx.AddJob(store.Job{Environment: name}, store.Content{})
			return err
		},
		"PutDeployment": func(tx store.Tx) error { return tx.PutJob(store.Job{ID: id, Environment: name}) },
		"Touch":         touching(id, 0, store.Running),
		"PutTask":       func(tx store.Tx) error { return tx.PutTask(store.Task{Deployment: id}) },
		"DeleteTasks":   func(tx store.Tx) error { return tx.DeleteTasks(id) },
		"PutStep":       func(tx store.Tx) error { return tx.PutStep(store.Step{Deployment: id}) },
		"DeleteSteps":   func(tx store.Tx) error { return tx.DeleteSteps(id) },
		"PutContent":    func(tx store.Tx) error { return tx.PutContent(id, store.Content{}) },
		"MoveSteps":     func(tx store.Tx) error { return tx.MoveSteps(id, id) },
		"AddEvents":     func(tx store.Tx) error { return tx.AddEvents(name, []store.Event{{}}) },
	}
}

func notFound(t *T) {
	d := t.waiting()
	all := statements("none", 99)
	for name, f := range all {
		if name == "PutEnvironment" || name == "Touch" {
			continue
		}
		if err := t.Write(t.Context(), "none", f); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s in a nonexistent environment: error %v, want %v", name, err, store.ErrNotFound)
		}
	}
	delete(all, "Touch") // returns another error
	all["Environment"] = func(tx store.Tx) error { _, err := tx.Environment("none"); return err }
	all["Deployment"] = func(tx store.Tx) error { _, err := tx.Job(99); return err }
	all["Content"] = func(tx store.Tx) error { _, err := tx.Content(99); return err }
	t.environment("other")
	all["moved to another environment"] = func(tx store.Tx) error { return tx.PutJob(store.Job{ID: d.ID, Environment: "other"}) }
	all["moved"] = func(tx store.Tx) error { return tx.PutJob(store.Job{ID: d.ID, Environment: "none"}) }
	for name, f := range all {
		t.write(func(tx store.Tx) error {
			if err := f(tx); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("%s: error %v, want %v", name, err, store.ErrNotFound)
			}
			return tx.PutStep(store.Step{Deployment: d.ID, URN: name}) // The transaction is still usable.
		})
		want(t, name, func(tx store.Tx) (string, error) { s, err := tx.Steps(d.ID); return s[0].URN, err })
	}
	want(t, nil, func(tx store.Tx) ([]store.Vertex, error) { return tx.Vertices("none") })
	want(t, nil, func(tx store.Tx) ([]store.Job, error) { return tx.Queue("none") })
}

// outside runs statements for the rows of an environment in a write of another.
func outside(t *T) {
	t.environment("dev")
	other := t.fill("other")
	t.write(func(tx store.Tx) error { // Nothing is read from it before.
		if err := tx.PutStep(store.Step{Deployment: other.ID}); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("PutStep: error %v, want %v", err, store.ErrNotFound)
		}
		return nil
	})
	all := statements("other", other.ID)
	all["PutTaskRuns"] = func(tx store.Tx) error { return tx.PutTaskRuns(other.ID, nil) }
	all["Prune"] = func(tx store.Tx) error { _, err := tx.Prune("other", []int64{other.ID}); return err }
	for name, f := range all {
		t.write(func(tx store.Tx) error {
			if err := f(tx); !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrFenced) {
				t.Errorf("%s: error %v, want %v", name, err, store.ErrNotFound)
			}
			return nil
		})
	}
	want(t, 5, count("other", other.ID))
}

func text(t *T) {
	t.environment("dev")
	all := []store.Vertex{
		{Key: "a a"}, {Key: "a b", Text: "text"}, {Key: "b", Text: ""},
		{Key: "c", Text: "ünïcödé 🚀 \u2028 \ufeff \ufffd"}, {Key: "d", Text: `'";--%_\` + "\r\n"}, {Key: "e", Text: strings.Repeat("0123456789", 1<<20)},
	}
	t.write(func(tx store.Tx) error { return tx.PutVertices("dev", all, nil) })
	want(t, all, func(tx store.Tx) ([]store.Vertex, error) { return tx.Vertices("dev") })
	t.write(func(tx store.Tx) error { return tx.PutVertices("dev", nil, []string{"a b", "a", "e"}) })
	want(t, []store.Vertex{all[0], all[2], all[3], all[4]}, func(tx store.Tx) ([]store.Vertex, error) { return tx.Vertices("dev") })
	d := t.add(store.Job{Environment: "dev"})
	for field, f := range map[string]func(tx store.Tx) error{
		"Vertex.Key":      func(tx store.Tx) error { return tx.PutVertices("dev", []store.Vertex{{Key: "\x00"}}, nil) },
		"Content.Request": func(tx store.Tx) error { return tx.PutContent(d.ID, store.Content{Request: "a\x00"}) },
		"Step.Message":    func(tx store.Tx) error { return tx.PutStep(store.Step{Deployment: d.ID, Message: "\x00b"}) },
		"Event.ID":        func(tx store.Tx) error { return tx.AddEvents("dev", []store.Event{{}, {ID: "\x00"}}) },
		"TaskRun.Node":    func(tx store.Tx) error { return tx.PutTaskRuns(d.ID, []store.TaskRun{{Node: "\x00"}}) },
	} {
		err := t.Write(t.Context(), "dev", f)
		if message := field + " contains NUL, which cannot be stored"; err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("error %v, want %s", err, message)
		}
	}
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
		// cmp considers equal times in different zones to be equal, so do not use it.
		stored := at.UTC().Truncate(time.Microsecond)
		err := t.Read(t.Context(), func(tx store.Tx) error {
			got, err := tx.Job(d.ID)
			steps, err2 := tx.Steps(d.ID)
			if got.Expires != stored || got.Ended != stored || steps[0].Deadline != stored || !got.Created.IsZero() {
				t.Errorf("stored times = %#v, %#v, %#v, want %#v and a zero Created", got.Expires, got.Ended, steps[0].Deadline, stored)
			}
			return errors.Join(err, err2)
		})
		if err != nil {
			t.Error(err)
		}
	}
}
