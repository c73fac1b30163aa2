package environment

import (
	"context"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/run"
	"github.com/lumi-idl/lumi/deploy/run/journal"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Rollback returns a request to redeploy the desired state of an earlier deployment. It has aliases for resources moved
// since then. Resources deleted since then are created again, without their data.
func (e *Environment) Rollback(ctx context.Context, id int64) (r run.Request, err error) {
	var d store.Job
	moves := map[urn.URN]urn.URN{}
	err = e.Journal.Read(ctx, func(t *journal.Tx) error {
		if d, err = t.Job(id); err != nil {
			return err
		}
		if d.Kind != store.Deploy {
			return job.Refuse("cannot roll back to %s: it deployed nothing", job.Name(d))
		}
		return addMoves(t, d, moves)
	})
	if err != nil {
		return r, err
	}
	if r, _, err = e.RequestOf(ctx, d); err != nil {
		return r, err
	}
	for v := range r.Desired.Base().Vertices() {
		if v.Type == lumigl.ModuleType || graph.IsRead(v.Options) {
			continue
		}
		if now, moved := moves[v.URN()]; moved {
			var aliases []lumigl.Value
			for _, alias := range v.Options.Get("aliases").Elements() {
				aliases = append(aliases, alias)
			}
			v.Options = v.Options.With("aliases", lumigl.ListOf(append(aliases, lumigl.TextOf(string(now)))...))
		}
	}
	return run.Request{Desired: r.Desired, UniqueNames: r.UniqueNames}, nil
}

// addMoves adds the resources moved since deployment d to moves, which maps URNs at the time of d to current URNs.
func addMoves(t *journal.Tx, d store.Job, moves map[urn.URN]urn.URN) error {
	origin := map[urn.URN]urn.URN{} // original URN by current URN
	for event, err := range t.Log(0, 0) {
		if err != nil {
			return err
		}
		if event.Deployment <= d.ID || event.Was == "" || event.State != store.Done {
			continue
		}
		was, now := urn.URN(event.Was), urn.URN(event.URN)
		first := was
		if o, moved := origin[was]; moved {
			first = o
			delete(origin, was)
		}
		origin[now], moves[first] = first, now
	}
	return nil
}
