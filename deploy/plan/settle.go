// Package plan is the beginning of the engine's planning wing. For now it settles desired state against a snapshot.
//
// [Settle] is the first stage. It turns what a program wants into the snapshot that there will be, written in the words of
// the one that there is, so that all in which the two differ is a change. Comparing them is the next stage:
//
//	settled, err := plan.Settle(state, desired, types)
//	…
//	delta, err := diff.Compare(state, settled.Snapshot, diff.Options{Replaces: types.Replaces})
//
// The package is pure: it reads no files, calls no provider and knows no store.
package plan

import (
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/diff"
	"github.com/lumi-idl/lumi/lumigl/match"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Types has the properties of resource types that settling depends on. The zero Types knows of none.
type Types struct {
	// Replaces has those that cannot change: if one differs, the resource is replaced.
	Replaces diff.Replaces
	// Outputs has the names of those that only providers set.
	Outputs map[tokens.Type][]string
}

// AddSchema adds the resource types of a schema.
func (t *Types) AddSchema(p *schema.Package) {
	if t.Replaces == nil {
		t.Replaces = diff.Replaces{}
	}
	if t.Outputs == nil {
		t.Outputs = map[tokens.Type][]string{}
	}
	for decl := range p.Decls() {
		resource, ok := decl.(*schema.Resource)
		if !ok {
			continue
		}
		token := tokens.Type(resource.Token)
		for _, property := range resource.Properties {
			if property.Replaces {
				t.Replaces[token] = append(t.Replaces[token], property.Name)
			}
			if property.Out {
				t.Outputs[token] = append(t.Outputs[token], property.Name)
			}
		}
	}
}

// Settled is desired state, settled against a snapshot.
type Settled struct {
	// Snapshot is what there will be: the desired resources, with the ids, extensions and outputs that the state has of
	// them, and its lineage, serial and pending entries. Outputs are left out that refer to resources which are gone, or
	// by which resources would depend on each other in a circle. What the state has in other words is in its words: the
	// value of a property in place of a reference to it, if the resource that has it stays, and the hash of a file.
	Snapshot *lumigl.Snapshot
	// Named are desired resources without names and those in the state that they are: in Snapshot they have the URNs of
	// these.
	Named []diff.Move
	// Moved are guesses: a resource is gone from the state, and of one that is new the program says all the same.
	Moved []diff.Move
}

// Settle settles desired state against a snapshot. A resource without a name is taken for the one in the state of which
// the program says all the same, or else the one with the same properties that cannot change, if there is just one.
//
// Both snapshots have to be valid. Neither is changed, and neither may be while the result is in use.
func Settle(state, desired *lumigl.Snapshot, types Types) (*Settled, error) {
	s, err := newSettler(state, desired, types, nil)
	if err != nil {
		return nil, err
	}
	settled := &Settled{}
	if unnamed := slices.DeleteFunc(missing(s.settled, state), isNamed); len(unnamed) > 0 {
		// What the others are to be tells what the unnamed ones refer to.
		settled.Named = match.Recognize(missing(state, s.settled), unnamed, s, inModule(types.inputs), inModule(types.Replaces.Identity))
		for i, named := range settled.Named {
			settled.Named[i].New = desired.Vertex(named.New.Key())
		}
		if s, err = newSettler(state, desired, types, settled.Named); err != nil {
			return nil, err
		}
	}
	settled.Snapshot = s.settled
	settled.Moved = match.Recognize(missing(state, s.settled), missing(s.settled, state), s, types.inputs)
	return settled, nil
}

// LooksDesired reports whether a snapshot looks like what a program wants: it has resources, and none has an id.
func LooksDesired(s *lumigl.Snapshot) bool {
	all := slices.Collect(s.Vertices())
	return len(all) > 0 && !slices.ContainsFunc(all, func(r *lumigl.Vertex) bool { return r.ID != "" })
}

// missing are the resources of a snapshot that another one does not have.
func missing(of, in *lumigl.Snapshot) (all []*lumigl.Vertex) {
	for r := range of.Vertices() {
		if in.Vertex(r.Key()) == nil {
			all = append(all, r)
		}
	}
	return all
}

// isNamed reports whether a resource has a name, and not a number since its provider has not given it one.
func isNamed(r *lumigl.Vertex) bool {
	number, ok := strings.CutPrefix(urn.URN(r.Key()).Name(), "#")
	return !ok || number == "" || strings.Trim(number, "0123456789") != ""
}

// inputs is a view of what a program says of a resource.
func (t *Types) inputs(r *lumigl.Vertex, old bool) (lumigl.Value, bool) {
	inputs := make([]lumigl.Member, 0, r.Properties.Len())
	for name, v := range r.Properties.Members() {
		if !old || !slices.Contains(t.Outputs[r.Type], name) {
			inputs = append(inputs, lumigl.Member{Key: name, Value: v})
		}
	}
	return lumigl.ObjectOf(inputs...), true
}

// inModule is a view that shows where a resource belongs too: all of its URN but the name.
func inModule(view match.View) match.View {
	return func(r *lumigl.Vertex, old bool) (lumigl.Value, bool) {
		v, ok := view(r, old)
		module := strings.TrimSuffix(r.Key(), urn.URN(r.Key()).Name())
		return lumigl.ListOf(lumigl.TextOf(module), v), ok
	}
}
