package plan

import (
	"cmp"
	"slices"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/match"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// complete returns desired state with the ids, extensions, outputs and pending entries of the state. The named resources
// get the URNs of the ones that they were recognized as.
func complete(
	state, desired *lumigl.Snapshot, outputs map[tokens.Type][]string, named []match.Pair,
) (*lumigl.Snapshot, error) {
	s := &lumigl.Snapshot{
		Package: desired.Package, Args: desired.Args, Lineage: state.Lineage, Serial: state.Serial,
	}
	s.Tag, s.Fields = desired.Tag, desired.Fields
	names := make(map[*lumigl.Vertex]*lumigl.Vertex, len(named))
	for _, n := range named {
		names[n.New] = n.Old
	}
	keyOf := func(r *lumigl.Vertex) string { return cmp.Or(names[r], r).Key() }
	for r := range desired.Vertices() {
		if _, err := s.Add(urn.URN(keyOf(r))); err != nil {
			return nil, err
		}
	}
	here := func(r *lumigl.Vertex) *lumigl.Vertex { return s.Vertex(keyOf(r)) }
	var leading []property // outputs with references
	for r := range desired.Vertices() {
		n := here(r)
		n.Type, n.ID, n.Extensions, n.Properties = r.Type, r.ID, r.Extensions, r.Properties.Retarget(here)
		n.Options, n.Source = r.Options.Retarget(here), r.Source
		was := state.Vertex(n.Key())
		if was == nil {
			continue
		}
		n.ID = cmp.Or(n.ID, was.ID)
		if !n.Extensions.Exists() {
			n.Extensions = was.Extensions
		}
		if len(outputs[r.Type]) == 0 {
			continue
		}
		var properties lumigl.ObjectBuilder
		properties.SetAll(n.Properties)
		for _, name := range outputs[r.Type] {
			value := was.Properties.Get(name)
			if properties.Get(name).Exists() || !leads(value, here) {
				continue
			}
			properties.Set(name, value.Retarget(here))
			for range value.References() {
				leading = append(leading, property{n, name})
				break
			}
		}
		n.Properties = properties.Object()
	}
	if len(leading) > 0 {
		places := make(map[*lumigl.Vertex]int, s.Len())
		for i, r := range match.Sorted(slices.Collect(desired.Vertices())) {
			places[here(r)] = i
		}
		leaveOutCycles(s, leading, places)
	}
	completePending(s, &state.Pending)
	return s, nil
}

// leads reports whether to has a vertex for every reference in a value.
func leads(v lumigl.Value, to func(*lumigl.Vertex) *lumigl.Vertex) bool {
	for target := range v.References() {
		if to(target) == nil {
			return false
		}
	}
	return true
}

// leaveOutCycles removes outputs that close a dependency cycle. Outputs that refer to earlier places only cannot close
// one together, so they stay.
func leaveOutCycles(s *lumigl.Snapshot, outputs []property, places map[*lumigl.Vertex]int) {
	component := match.Components(slices.Collect(s.Vertices()))
	for _, output := range outputs {
		r := output.of
		for target := range r.Properties.Get(output.name).References() {
			if component[target] == component[r] && places[target] >= places[r] {
				r.Properties = r.Properties.With(output.name, lumigl.Value{})
				break
			}
		}
	}
}

// completePending copies the state's pending entries, except properties and options with references to deleted resources.
func completePending(s *lumigl.Snapshot, pending *lumigl.Pending) {
	deletes := make(map[*lumigl.Vertex]*lumigl.Vertex, len(pending.Deletes))
	for _, was := range pending.Deletes {
		r := *was
		deletes[was] = &r
		s.Pending.Deletes = append(s.Pending.Deletes, &r)
	}
	here := func(v *lumigl.Vertex) *lumigl.Vertex {
		r, old := s.Vertex(v.Key()), deletes[v]
		if r != nil && old != nil {
			return nil // In a file, the reference would be to the resource that is not to be deleted.
		}
		return cmp.Or(r, old)
	}
	keep := func(r *lumigl.Vertex) {
		r.Properties = leading(r.Properties, here)
		if r.Options = leading(r.Options, here); r.Options.Len() == 0 {
			r.Options = lumigl.Value{}
		}
	}
	for _, r := range s.Pending.Deletes {
		keep(r)
	}
	for _, o := range pending.Operations {
		r := *o.Resource
		keep(&r)
		s.Pending.Operations = append(s.Pending.Operations, lumigl.Operation{Kind: o.Kind, Resource: &r})
	}
}

// leading returns the members of an object whose references to has vertices for, with references to these.
func leading(object lumigl.Value, to func(*lumigl.Vertex) *lumigl.Vertex) lumigl.Value {
	var all lumigl.ObjectBuilder
	for name, v := range object.Members() {
		if leads(v, to) {
			all.Set(name, v.Retarget(to))
		}
	}
	return all.Object()
}
