package diff

import (
	"cmp"
	"slices"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// complete makes a snapshot of what is desired and of what is in the state. Resources that have no name get the URNs of
// those that they were.
func complete(
	state, desired *lumigl.Snapshot, outputs Outputs, names map[*lumigl.Vertex]*lumigl.Vertex,
) (*lumigl.Snapshot, error) {
	s := &lumigl.Snapshot{
		Package: desired.Package, Args: desired.Args, Lineage: state.Lineage, Serial: state.Serial,
	}
	s.Tag, s.Fields = desired.Tag, desired.Fields
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
		was := state.Vertex(n.Key())
		if was == nil {
			continue
		}
		if n.ID == "" {
			n.ID = was.ID
		}
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
			if properties.Get(name).Exists() || !value.Exists() || !leads(value, here) {
				continue
			}
			properties.Set(name, value.Retarget(here))
			if refers(value) {
				leading = append(leading, property{n, name})
			}
		}
		n.Properties = properties.Object()
	}
	if len(leading) > 0 {
		places := make(map[*lumigl.Vertex]int, s.Len())
		for i, r := range behindTargets(slices.Collect(desired.Vertices()), targets) {
			places[here(r)] = i
		}
		leaveOutCircles(s, leading, places)
	}
	return s, completePending(s, &state.Pending)
}

// leads reports whether all references in a value lead somewhere.
func leads(v lumigl.Value, to func(*lumigl.Vertex) *lumigl.Vertex) bool {
	for target := range v.References() {
		if to(target) == nil {
			return false
		}
	}
	return true
}

func refers(v lumigl.Value) bool {
	return !leads(v, func(*lumigl.Vertex) *lumigl.Vertex { return nil })
}

// leaveOutCircles leaves out outputs by which resources depend on each other in circles. One that refers to what has its
// place before anyway, for all that the program says, makes no circle with others of that kind.
func leaveOutCircles(s *lumigl.Snapshot, outputs []property, places map[*lumigl.Vertex]int) {
	circles := circlesIn(slices.Collect(s.Vertices()))
	for _, output := range outputs {
		r := output.of
		for target := range r.Properties.Get(output.name).References() {
			if circles[target] == circles[r] && places[target] >= places[r] {
				r.Properties = r.Properties.With(output.name, lumigl.Value{})
				break
			}
		}
	}
}

// circlesIn numbers vertices so that those which depend on each other in circles have one number. It is the algorithm of
// S. Rao Kosaraju: against the references, and from the last vertex behind what it refers to, one gets around in circles
// only.
func circlesIn(vertices []*lumigl.Vertex) map[*lumigl.Vertex]int {
	sources := map[*lumigl.Vertex][]*lumigl.Vertex{}
	for _, v := range vertices {
		targets(v, func(target *lumigl.Vertex) { sources[target] = append(sources[target], v) })
	}
	circles := make(map[*lumigl.Vertex]int, len(vertices))
	var stack []*lumigl.Vertex
	for i, v := range slices.Backward(behindTargets(vertices, targets)) {
		stack = append(stack, v)
		for len(stack) > 0 {
			top := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if _, found := circles[top]; !found {
				circles[top] = i
				stack = append(stack, sources[top]...)
			}
		}
	}
	return circles
}

// completePending gives a snapshot what is pending in the state.
func completePending(s *lumigl.Snapshot, pending *lumigl.Pending) error {
	here := make(map[*lumigl.Vertex]*lumigl.Vertex, len(pending.Deletes))
	for _, was := range pending.Deletes {
		r, err := lumigl.NewResource(was.URN())
		if err != nil {
			return err
		}
		s.Pending.Deletes = append(s.Pending.Deletes, r)
		here[was] = r
	}
	to := func(v *lumigl.Vertex) *lumigl.Vertex {
		r := s.Vertex(v.Key())
		if old := here[v]; old != nil {
			if r != nil {
				return nil // In a file, it would lead to the one that is not to be deleted.
			}
			return old
		}
		return r
	}
	for i, was := range pending.Deletes {
		fillPending(s.Pending.Deletes[i], was, to)
	}
	for _, o := range pending.Operations {
		r, err := lumigl.NewResource(o.Resource.URN())
		if err != nil {
			return err
		}
		fillPending(r, o.Resource, to)
		s.Pending.Operations = append(s.Pending.Operations, lumigl.Operation{Kind: o.Kind, Resource: r})
	}
	return nil
}

// fillPending gives a resource what another one has, but for properties that lead nowhere.
func fillPending(r, was *lumigl.Vertex, to func(*lumigl.Vertex) *lumigl.Vertex) {
	r.Type, r.ID, r.Extensions, r.Properties = was.Type, was.ID, was.Extensions, was.Properties
	if leads(was.Properties, to) {
		r.Properties = was.Properties.Retarget(to)
		return
	}
	var left members
	for name, v := range was.Properties.Members() {
		if leads(v, to) {
			left.add(name, v.Retarget(to))
		}
	}
	r.Properties = lumigl.ObjectOf(left...)
}
