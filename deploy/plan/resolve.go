package plan

import (
	"cmp"
	"slices"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/expr"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// resource returns the resource for the target of a reference, with its step applied if decided. It returns nil if the
// resource does not exist or belongs to another module.
func (p *planner) resource(target *lumigl.Vertex) *graph.Resource {
	i, ok := p.index[target]
	switch {
	case !ok:
		return nil
	case p.items[i].step != nil:
		return p.items[i].step.New
	}
	return p.items[i].old
}

// resolve returns a value from the program with known outputs substituted and references changed to final URNs.
func (p *planner) resolve(v lumigl.Value) (lumigl.Value, error) {
	v, err := expr.Evaluate(v, p.output)
	return v.Retarget(p.final), err
}

// final returns the vertex that stored values use to refer to target.
func (p *planner) final(target *lumigl.Vertex) *lumigl.Vertex {
	if i, ok := p.index[target]; ok {
		return p.items[i].reference
	}
	return target
}

// traits reports whether a value contains parts to resolve (open) or files.
func (p *planner) traits(v lumigl.Value) (open, files bool) {
	switch v.Kind() {
	case lumigl.Reference:
		target, property, _ := v.Target()
		return property != "" || p.final(target) != target, false
	case lumigl.List:
		for _, e := range v.Elements() {
			o, f := p.traits(e)
			open, files = open || o, files || f
		}
	case lumigl.Object:
		open, files = v.IsExpression(), v.IsFile()
		for _, e := range v.Members() {
			o, f := p.traits(e)
			open, files = open || o, files || f
		}
	}
	return open, files
}

// settle resolves the properties and options of an item. Properties that cannot be evaluated stay as they are in the
// program: an error may be due to stored values that are out of date, and is reported when the item is decided.
func (p *planner) settle(it *item) {
	it.inputs, it.options = it.desired.Properties, it.desired.Options.Retarget(p.final)
	open, files := p.traits(it.inputs)
	it.hasFiles = files
	if !open {
		return
	}
	if inputs, err := p.resolve(it.inputs); err == nil {
		it.inputs = inputs
	}
}

// references returns the resources referenced by an item or its old properties, including resources of other modules.
func (p *planner) references(i int32, old lumigl.Value) map[urn.URN]Reference {
	var all map[urn.URN]Reference
	add := func(u urn.URN, r *graph.Resource) {
		if all == nil {
			all = map[urn.URN]Reference{}
		}
		facts, found := p.facts.Load(r)
		if !found {
			facts, _ = p.facts.LoadOrStore(r, Reference{ID: r.ID, Properties: Known(r.Properties())})
		}
		all[u] = facts.(Reference)
	}
	for _, to := range p.dependencies.Out(i) {
		if r := p.resource(p.items[to].desired); r != nil && r.ID != "" {
			add(p.items[to].urn, r)
		}
	}
	lookup := func(v lumigl.Value, resource func(urn.URN) *graph.Resource) {
		for target := range v.References() {
			if _, found := all[target.URN()]; found {
				continue
			}
			if r := resource(target.URN()); r != nil {
				add(r.URN, r)
			}
		}
	}
	used := func(u urn.URN) *graph.Resource { return p.Graph.Used(p.uses, u) }
	lookup(p.items[i].inputs, used)
	lookup(old, func(u urn.URN) *graph.Resource { return cmp.Or(p.oldOf(u), used(u)) })
	if slices.ContainsFunc(p.dependencies.Out(i), func(to int32) bool { return p.items[to].isRead() }) {
		holds(p.items[i].inputs, func(v lumigl.Value) bool { // The results of a look-up contain URNs as text.
			text, _ := v.Text()
			if r := p.Graph.Current(urn.URN(text)); r != nil && r.ID != "" {
				add(r.URN, r)
			}
			return false
		})
	}
	return all
}

// Known returns object without unknown members.
func Known(object lumigl.Value) lumigl.Value {
	return object.Replace(func(part lumigl.Value) (lumigl.Value, bool) { return lumigl.Value{}, part.IsUnknown() })
}

// ReferencesOf returns the resources referenced by r's stored properties.
func ReferencesOf(g *graph.Graph, r *graph.Resource) map[urn.URN]Reference {
	var all map[urn.URN]Reference
	for u, to := range g.References(r) {
		if all == nil {
			all = map[urn.URN]Reference{}
		}
		all[u] = Reference{ID: to.ID, Properties: Known(to.Properties())}
	}
	return all
}
