package environment

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/refresh"
	"github.com/lumi-idl/lumi/deploy/run"
)

// Compare compares the resources of modules with the real ones. It reads only resources for which chosen returns true.
func (e *Environment) Compare(ctx context.Context, modules []string, chosen func(*graph.Resource) bool) (all []refresh.Result, err error) {
	g, err := e.Graph(ctx)
	if err != nil {
		return nil, err
	}
	for _, module := range modules {
		resources := slices.DeleteFunc(refresh.Resources(g, module), func(r *graph.Resource) bool { return !chosen(r) })
		results, err := e.Refresh(ctx, g, module, resources, run.Request{})
		if err != nil {
			return nil, err
		}
		all = append(all, results...)
	}
	return all, nil
}

// Accept stores the actual state of resources, with an [Edit] for each module. It leaves out, and returns, the results for
// resources that have changed since they were read.
func (e *Environment) Accept(ctx context.Context, results []refresh.Result) (stale []refresh.Result, err error) {
	byModule := map[string][]refresh.Result{}
	var edits []Edit
	for _, r := range results {
		parts, err := r.Stored.URN.Parts()
		switch module := parts.Package; {
		case err != nil:
			return nil, err
		case r.Actual == nil:
		case byModule[module] == nil:
			edits = append(edits, Edit{Module: module})
			fallthrough
		default:
			byModule[module] = append(byModule[module], r)
		}
	}
	left := make([][]refresh.Result, len(edits))
	for i := range edits {
		found := byModule[edits[i].Module]
		edits[i].Change = func(g *graph.Graph, _ graph.Deployment) (after *graph.Graph, _ error) {
			after, left[i] = refresh.Apply(g, found)
			var names []string
			for _, r := range found {
				if !slices.ContainsFunc(left[i], func(stale refresh.Result) bool { return stale.Stored == r.Stored }) {
					names = append(names, r.Stored.URN.Name())
				}
			}
			edits[i].Message = "accepted the drift of " + cmp.Or(strings.Join(names, ", "), "no resource")
			return after, nil
		}
	}
	err = e.Edit(ctx, edits...)
	return slices.Concat(left...), err
}
