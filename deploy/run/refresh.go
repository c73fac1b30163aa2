package run

import (
	"context"
	"fmt"
	"slices"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/provision"
	"github.com/lumi-idl/lumi/deploy/refresh"
	"github.com/lumi-idl/lumi/lumigl"
)

// Refresh reads resources of g and compares them with the stored ones. The request's configuration of a package takes
// precedence over the one in the resource's version. Refresh returns an error only if ctx is done.
func (e *Engine) Refresh(ctx context.Context, g *graph.Graph, module string, resources []*graph.Resource, r Request) ([]refresh.Result, error) {
	callers, by := map[lumigl.Value]*provision.Caller{}, map[*graph.Resource]*provision.Caller{}
	for _, one := range resources {
		stored := g.Configuration(one)
		if callers[stored] == nil {
			callers[stored] = e.caller(module, r).With(lumigl.Merged(stored, r.configuration()).Get)
		}
		by[one] = callers[stored]
	}
	return refresh.Read(ctx, refresh.Request{
		Graph: g, Resources: resources, Provider: func(r *graph.Resource) plan.Provider { return by[r] },
		Ignore: e.IgnoreDrift, Parallelism: e.Parallelism, Timeout: e.Timeout,
	})
}

// read reads the module's resources in g that are also in existing. The others will be created or changed by a
// deployment that is waited for. It returns a *[plan.Error] with a fault for each resource that cannot be read.
func (e *Engine) read(ctx context.Context, g, existing *graph.Graph, module string, r Request) (*reading, error) {
	resources := slices.DeleteFunc(refresh.Resources(g, module), func(r *graph.Resource) bool {
		return existing.Find(r.URN, r.Deployment, r.ID) != r
	})
	results, err := e.Refresh(ctx, g, module, resources, r)
	if err != nil {
		return nil, err
	}
	var faults []plan.Fault
	for _, one := range results {
		if one.Err != nil {
			faults = append(faults, plan.Fault{URN: one.Stored.URN, Source: one.Stored.Source, Message: fmt.Sprintf("cannot be read: %v", one.Err)})
		}
	}
	if len(faults) > 0 {
		return nil, &plan.Error{Faults: faults}
	}
	actual, _ := refresh.Apply(g, results)
	return &reading{results, g, actual}, nil
}

// apply returns g with the actual resources, except those that have changed since they were read.
func (r *reading) apply(g *graph.Graph) *graph.Graph {
	if g == r.stored {
		return r.actual
	}
	actual, _ := refresh.Apply(g, r.results)
	return actual
}
