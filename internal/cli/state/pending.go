package state

import (
	"context"
	"slices"

	"github.com/lumi-idl/lumi/deploy/environment"
	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/expr"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// forecast updates all, which maps modules to their newest versions, with the versions that queued deployments will
// create.
func forecast(ctx context.Context, engine *environment.Environment, g *graph.Graph, all map[string]*graph.Version) error {
	queued, err := engine.Status(ctx)
	if err != nil {
		return err
	}
	for _, d := range queued {
		if d.Number == 0 || d.Abort {
			continue // cleanups and aborts create no versions
		}
		found, err := engine.Find(ctx, d.Number)
		if err != nil {
			return err
		}
		r := found.Request
		v := graph.NewVersion(graph.VersionID{Module: d.Module, Deployment: graph.Deployment(d.Number)}, nil)
		if r.Desired != nil {
			m, err := graph.ModuleOf(r.Desired, g.Environment)
			if err != nil {
				return err
			}
			v.Provides = expected(g, all, m, v.VersionID, r.Replace)
		}
		all[d.Module] = v
	}
	return nil
}

// expected returns the outputs that a deployment will produce, as far as they are known without calling providers: from
// resources that it has already created or leaves unchanged. All maps modules to the versions created by earlier
// deployments.
func expected(g *graph.Graph, all map[string]*graph.Version, m *graph.Module, id graph.VersionID, replace []urn.URN) []graph.Provided {
	existing := map[urn.URN]*graph.Resource{} // by URN in the program
	for _, v := range g.Versions(m.Name) {
		for r := range v.Resources() {
			// The results of other deployments of the module are unknown.
			if v.VersionID == id || v == g.Newest(m.Name) && v == all[m.Name] {
				existing[r.InProgram()] = r
			}
		}
	}
	bindings, _ := g.Bind(m.Version(id.Deployment, nil)) // unbound uses have unknown values
	var uses []graph.Edge
	for _, b := range bindings {
		if all[b.Edge.Module] == g.Version(b.Edge.To) {
			uses = append(uses, b.Edge)
		}
	}
	known := map[*lumigl.Vertex]*graph.Resource{} // nil if the outputs of the resource are unknown
	evaluate := func(v lumigl.Value) lumigl.Value {
		v, _ = expr.Evaluate(v, g.Resolve(uses, func(to *lumigl.Vertex) *graph.Resource { return known[to] }))
		return v.Replace(func(part lumigl.Value) (lumigl.Value, bool) {
			to, property, _ := part.Target()
			r, isOwn := known[to]
			if !isOwn || property != "" {
				return lumigl.Value{}, false
			} else if r == nil {
				return lumigl.TextOf(wire.Unknown), true
			}
			to, _ = lumigl.NewResource(r.URN)
			return lumigl.ReferenceTo(to), true
		})
	}
	for _, v := range m.Resources { // in dependency order
		r := existing[v.URN()]
		known[v] = nil
		if r == nil || !expr.IsKnown(r.Inputs) || !evaluate(v.Properties).Equal(r.Inputs) {
			continue
		}
		if r.Deployment == id.Deployment || !slices.Contains(replace, v.URN()) && !hasFile(r.Inputs) {
			known[v] = r
		}
	}
	for i, p := range m.Provides {
		m.Provides[i].Result = evaluate(p.Value)
	}
	return m.Provides
}

// hasFile reports whether a value contains a file. The content of a file may have changed.
func hasFile(v lumigl.Value) (found bool) {
	v.Replace(func(part lumigl.Value) (lumigl.Value, bool) {
		found = found || part.IsFile()
		return part, found
	})
	return found
}
