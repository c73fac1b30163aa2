package storetest

import (
	"errors"

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

// fill adds an environment with a row of each kind. It returns the environment's deployment.
func (t *T) fill(name string) store.Job {
	t.Helper()
	t.environment(name)
	d := t.add(store.Job{Environment: name, State: store.Running})
	t.writeTo(name, func(tx store.Tx) error {
		return errors.Join(
			tx.PutVertices(name, []store.Vertex{{Key: "key", Text: name}}, nil),
			tx.PutTask(store.Task{Deployment: d.ID, Number: 1}),
			tx.PutStep(store.Step{Deployment: d.ID, Number: 1}),
			tx.AddEvents(name, []store.Event{{Deployment: d.ID, Message: name}}))
	})
	return d
}

// count returns a function that counts the rows of an environment and its deployment.
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
	t.writeTo("prod", func(tx store.Tx) error { return tx.DeleteEnvironment("prod") })
	t.environment("prod")
	want(t, 0, count("prod", prod.ID))
	want(t, 5, count("dev", dev.ID))
	if d := t.fill("prod"); d.ID <= prod.ID {
		t.Errorf("AddJob() = %d, want an ID greater than %d", d.ID, prod.ID)
	}
	want(t, []store.Event{{Serial: 3, Deployment: prod.ID + 1, Message: "prod"}},
		func(tx store.Tx) ([]store.Event, error) { return tx.Events("prod", 0, 0, 10) })
}
