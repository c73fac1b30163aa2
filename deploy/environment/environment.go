// Package environment reads and edits environments and their queues, histories, and states without calling providers.
package environment

import (
	"context"
	"errors"
	"math"

	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/run"
	"github.com/lumi-idl/lumi/deploy/state"
	"github.com/lumi-idl/lumi/deploy/store"
)

// Environment is an environment along with the engine that runs its deployments.
type Environment struct{ *run.Engine }

// New returns an Environment with a new engine.
func New(o run.Options) *Environment { return &Environment{run.New(o)} }

// Add adds an environment to a store. It returns a *[job.RefusedError] if the environment already exists.
func Add(ctx context.Context, s store.Store, e store.Environment) error {
	return s.Write(ctx, e.Name, func(tx store.Tx) error {
		_, err := tx.Environment(e.Name)
		switch {
		case err == nil:
			return job.Refuse("environment %s already exists: choose another name", e.Name)
		case !errors.Is(err, store.ErrNotFound):
			return err
		}
		return tx.PutEnvironment(e)
	})
}

// Deletable returns the number of resources in an environment. It also returns a *[job.RefusedError] if there are
// resources, if a deployment is queued, or if a task graph is running. If force is set, only running jobs cause an
// error, and a damaged graph counts as empty.
func Deletable(tx store.Tx, name string, force bool) (resources int, err error) {
	environment, err := tx.Environment(name)
	if err != nil {
		return 0, err
	}
	queued, err := tx.Queue(name)
	if err != nil {
		return 0, err
	}
	for _, d := range queued {
		if !force || tx.Now().Before(d.Expires) {
			return 0, job.Refuse("%s is in the queue: wait until it ends, or abort it", job.Name(d))
		}
	}
	runs, err := tx.Runs(name, 0, math.MaxInt32)
	if err != nil {
		return 0, err
	}
	for _, d := range runs {
		if tx.Now().Before(d.Expires) {
			return 0, job.Refuse("%s is running: wait until it ends, or stop it with 'lumi tasks stop'", job.Name(d))
		}
	}
	rows, err := tx.Vertices(name)
	if err != nil {
		return 0, err
	}
	g, err := state.Codec{}.Graph(environment, rows)
	switch {
	case err != nil && force:
		return 0, nil
	case err != nil:
		return 0, err
	}
	if resources = g.Count(); resources > 0 && !force {
		err = job.Refuse("%s has resources: run 'lumi destroy --environment=%[1]s' to delete them, or pass --force to leave them in place", name)
	}
	return resources, err
}
