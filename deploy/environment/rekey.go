package environment

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/run/journal"
	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/deploy/state"
	"github.com/lumi-idl/lumi/deploy/store"
)

// Rekey reseals the environment's secrets with key and stores wrapped, which is the wrapped form of key, in the same
// transaction. It returns a *[job.RefusedError] while a deployment is running. The engine keeps the old key, so create
// a new engine afterward.
func (e *Environment) Rekey(ctx context.Context, key *secret.Key, wrapped string) error {
	// A Codec without a key would hide secrets. With a random key, it returns an error for them.
	from, to := state.Codec{Key: cmp.Or(e.Journal.Key, secret.NewKey())}, state.Codec{Key: key}
	// Other writes of the engine seal with the old key, so they must not share this transaction.
	return e.Journal.WriteAlone(ctx, func(t *journal.Tx) error {
		if err := resealGraph(t, e.Environment, from, to, wrapped); err != nil {
			return err
		}
		for d, err := range t.Deployments() {
			if err != nil {
				return err
			}
			if err := cmp.Or(fenceOff(t, d), reseal(t, from, to, d.ID)); err != nil {
				return fmt.Errorf("%s: %w", job.Name(d), err)
			}
		}
		return nil
	})
}

// resealGraph reseals the resource graph. This changes the graph's serial, so executors with the old key reload it and
// fail.
func resealGraph(t *journal.Tx, name string, from, to state.Codec, wrapped string) error {
	environment, err := t.Environment(name)
	if err != nil {
		return err
	}
	rows, err := t.Vertices(environment.Name)
	if err != nil {
		return err
	}
	g, err := from.Graph(environment, rows)
	if err != nil {
		return err
	}
	put, _, err := to.Changes(&graph.Graph{}, g)
	if err != nil {
		return err
	}
	environment.Key = wrapped
	return cmp.Or(t.PutEnvironment(environment), t.PutVertices(environment.Name, put, nil))
}

// fenceOff prevents a lost executor from writing with the old key. It returns an error if the deployment is running.
func fenceOff(t *journal.Tx, d store.Job) error {
	if d.State != store.Running && d.State != store.Aborting {
		return nil
	}
	if t.Now().Before(d.Expires) {
		return job.Refuse("cannot change the key while it runs: wait until it ends")
	}
	d.Fence++
	return t.PutJob(d)
}

// reseal reseals the stored content and the steps of a deployment.
func reseal(t *journal.Tx, from, to state.Codec, deployment int64) error {
	c, err := t.Content(deployment)
	if err != nil {
		return err
	}
	err = errors.Join(recode(&c.Desired, from.ParseDesired, to.Desired), recode(&c.Shown, from.ParseEffects, to.Effects))
	if err != nil {
		return err
	}
	if err := t.PutContent(deployment, c); err != nil {
		return err
	}
	rows, err := t.Steps(deployment)
	for i := 0; i < len(rows) && err == nil; i++ {
		parse := func(text string) ([]*graph.Resource, error) { return from.Resources([]string{text}) }
		write := func(one []*graph.Resource) (string, error) { return to.Resource(one[0]) }
		if err = recode(&rows[i].New, parse, write); err == nil {
			err = t.PutStep(rows[i])
		}
	}
	return err
}

// recode parses *text and stores the result of write, unless *text is empty.
func recode[T any](text *string, parse func(string) (T, error), write func(T) (string, error)) error {
	if *text == "" {
		return nil
	}
	v, err := parse(*text)
	if err == nil {
		*text, err = write(v)
	}
	return err
}
