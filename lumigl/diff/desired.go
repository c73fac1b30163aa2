package diff

import (
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Outputs has the names of the properties of each type that providers set, and programs do not.
type Outputs map[tokens.Type][]string

// CompareDesired returns how what a program wants differs from the state. What only deployments know counts as it is in
// the state: see [Desired]. So does what the program says of it in other words: a reference to a property of a resource
// that stays, where the state has the value of that property, and an asset or archive without a hash, where the state has
// one. A resource that the program does not name is taken for the one in the state that it says the same of, or else has
// the same properties that cannot change, if there is just one: see [Delta.Named].
func CompareDesired(state, desired *lumigl.Snapshot, o Options) (*Delta, error) {
	names, err := name(state, desired, o)
	if err != nil {
		return nil, err
	}
	completed, err := complete(state, desired, o.Outputs, names)
	if err != nil {
		return nil, err
	}
	d, err := compare(state, completed, o, settle(state, completed, o.Replaces))
	if err != nil {
		return nil, err
	}
	d.desired = true
	for v := range desired.Vertices() {
		if old := names[v]; old != nil {
			d.Named = append(d.Named, Move{Old: old, New: v})
		}
	}
	return d, nil
}

// Desired returns what there will be once a program's wish has come true, as far as anybody can say: the desired
// snapshot, with what only deployments know as it is in the state. That is the lineage, the serial and what is pending,
// and of each resource that is in both the id, the extensions and the outputs, unless the program has some of its own. A
// property of these that refers to a resource which the program does not have is left out, and so are outputs by which
// resources would depend on each other in a circle. Its difference to the state is what the program wants to have changed.
// Neither snapshot is changed, and neither may be while the result is in use.
func Desired(state, desired *lumigl.Snapshot, outputs Outputs) (*lumigl.Snapshot, error) {
	return complete(state, desired, outputs, nil)
}

// name finds those resources in a state which a program has without a name.
func name(state, desired *lumigl.Snapshot, o Options) (map[*lumigl.Vertex]*lumigl.Vertex, error) {
	unnamed := func(v *lumigl.Vertex) bool { return isUnnamed(v) && state.Vertex(v.Key()) == nil }
	if !slices.ContainsFunc(slices.Collect(desired.Vertices()), unnamed) {
		return nil, nil
	}
	// What the others are to be tells what the unnamed ones refer to.
	completed, err := complete(state, desired, o.Outputs, nil)
	if err != nil {
		return nil, err
	}
	s := settle(state, completed, o.Replaces)
	var olds, news []*lumigl.Vertex
	for v := range completed.Vertices() {
		if unnamed(v) {
			news = append(news, v)
		}
	}
	for v := range state.Vertices() {
		if desired.Vertex(v.Key()) == nil {
			olds = append(olds, v)
		}
	}
	names := map[*lumigl.Vertex]*lumigl.Vertex{}
	for i, old := range recognize(olds, news, s, inModule(o.Outputs.inputs), inModule(o.Replaces.identity)) {
		if old != nil {
			names[desired.Vertex(news[i].Key())] = old
		}
	}
	return names, nil
}

// isUnnamed reports whether a resource has a number for a name, since its provider has not given it one.
func isUnnamed(r *lumigl.Vertex) bool {
	number, ok := strings.CutPrefix(urn.URN(r.Key()).Name(), "#")
	return ok && number != "" && strings.Trim(number, "0123456789") == ""
}

// inModule is a view that shows where a resource belongs too: all of its URN but the name.
func inModule(view view) view {
	return func(r *lumigl.Vertex, old bool) (lumigl.Value, bool) {
		v, ok := view(r, old)
		module := strings.TrimSuffix(r.Key(), urn.URN(r.Key()).Name())
		return lumigl.ListOf(lumigl.TextOf(module), v), ok
	}
}

// LooksDesired reports whether a snapshot looks like what a program wants: it has resources, and none has an id.
func LooksDesired(s *lumigl.Snapshot) bool {
	all := slices.Collect(s.Vertices())
	return len(all) > 0 && !slices.ContainsFunc(all, func(r *lumigl.Vertex) bool { return r.ID != "" })
}
