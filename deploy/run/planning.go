package run

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/queue"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

// provisioner returns the name of the provisioner of a type.
func (e *Engine) provisioner(t tokens.Type) string {
	if e.Provisioner != nil {
		if name := e.Provisioner(t); name != "" {
			return name
		}
	}
	if t == lumigl.ModuleType {
		return Module
	}
	return Providers
}

// planFor plans a request for a graph.
func (e *Engine) planFor(ctx context.Context, g *graph.Graph, d graph.Deployment, r Request) (*plan.Plan, error) {
	if r.Desired == nil {
		return plan.MakeDestroy(g, r.Destroy, e.provisioner)
	}
	return plan.Make(ctx, plan.Request{
		Graph: g, Deployment: d, Desired: r.Desired, Provider: e.caller(r), Provisioner: e.provisioner,
		Targets: r.Targets, Interrupt: r.Interrupt, Parallelism: e.Parallelism,
	})
}

// Plan plans a request for the resource graph as it will be when its turn comes. The error is a *[plan.Error] if it cannot
// be deployed.
func (e *Engine) Plan(ctx context.Context, r Request) (*plan.Plan, error) {
	r, err := e.concealed(ctx, r)
	if err != nil {
		return nil, err
	}
	var g *graph.Graph
	var last int64
	var rows []store.Deployment
	var needed map[string]bool
	err = e.read(ctx, func(t *txn) error {
		environment, err := t.Environment(e.Environment)
		if err != nil {
			return err
		}
		last = environment.Last
		if rows, g, err = t.queue(); err != nil {
			return err
		}
		added, err := e.entryOf(r, last+1)
		if err != nil {
			return err
		}
		q, _, err := entries(rows).Add(added, g)
		if err != nil {
			return plan.AsError(err)
		}
		needed, _ = neededFor(added.Name(), q, g)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, d := range rows {
		if needed[name(d)] {
			if g, err = e.after(ctx, d, g); err != nil {
				return nil, err
			}
		}
	}
	return e.planFor(ctx, g, graph.Deployment(last+1), r)
}

// concealed returns a request in whose desired state the properties are secrets that their types declare to be, since what
// follows is stored. Programs mark them; a graph that was written in another way may not.
func (e *Engine) concealed(ctx context.Context, r Request) (Request, error) {
	if r.Desired == nil {
		return r, nil
	}
	secrets := map[tokens.Type][]string{}
	for v := range r.Desired.Vertices() {
		if v.Type != lumigl.ModuleType {
			secrets[v.Type] = nil
		}
	}
	all, err := e.caller(r).Describe(ctx, slices.Sorted(maps.Keys(secrets)))
	if err != nil {
		return r, err
	}
	for _, d := range all {
		secrets[d.Type] = d.Secrets
	}
	desired := r.Desired.Clone()
	for v := range desired.Vertices() {
		properties, changed := plan.Conceal(v.Properties, secrets[v.Type])
		if v.Properties = properties; changed {
			r.Desired = desired
		}
	}
	return r, nil
}

// neededFor returns the names of a deployment and of those that it waits for, directly or through others. It is blocked if
// one of these has failed or asks.
func neededFor(name string, q queue.Queue, g *graph.Graph) (needed map[string]bool, blocked bool) {
	needed = map[string]bool{name: true}
	for i, e := range slices.Backward(q) { // What runs may come later in the queue, but waits for nothing.
		if !needed[e.Name()] {
			continue
		}
		for _, w := range q.Waits(i, g) {
			needed[w.For.Name()] = true
			blocked = blocked || w.For.Failed
		}
	}
	return needed, blocked
}

// after returns the resource graph as a deployment is expected to leave it: as it is where the deployment cannot be planned.
func (e *Engine) after(ctx context.Context, d store.Deployment, g *graph.Graph) (*graph.Graph, error) {
	if d.Purpose == cleanup {
		return g.Cleanup(d.Module).Graph, nil
	}
	r, _, err := e.request(ctx, d)
	if err != nil {
		return nil, err
	}
	p, err := e.planFor(ctx, g, graph.Deployment(d.Number), r)
	if wrong := (*plan.Error)(nil); errors.As(err, &wrong) {
		return g, nil
	} else if err != nil {
		return nil, err
	}
	return p.Transition.Graph, nil
}
