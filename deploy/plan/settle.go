// Package plan is the engine's planning wing. For now it settles desired state against a snapshot.
//
// [Settle] is the first stage. It completes desired state with what only the state has, such as ids and outputs, and
// writes values as the state has them wherever they mean the same. Every difference between the state and the settled
// snapshot is then a change. Comparing the two is the next stage:
//
//	settled, err := plan.Settle(state, desired, types)
//	…
//	delta, err := diff.Compare(state, settled.Snapshot, diff.Options{Replaces: types.Replaces, Recognized: &settled.Recognized})
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

// Types holds the flags of properties, by resource type. The zero Types has none.
type Types struct {
	// Replaces has the properties that cannot be changed in place.
	Replaces diff.Replaces
	// Outputs has the names of the properties that only providers set.
	Outputs map[tokens.Type][]string
}

// AddSchema adds the flags of the resource types in a schema.
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

// Settled is the result of [Settle].
type Settled struct {
	// Snapshot has the desired resources, with the ids, extensions and outputs from the state, and the state's lineage,
	// serial and pending entries. Where desired state has a value of its own, that counts. Outputs that refer to deleted
	// resources, or would close a dependency cycle, are left out. A reference to a property is replaced by the property's
	// value where the state has that value and the resource referred to stays, an expression by its value if all that it
	// depends on is known, and left out if that is null; an asset or archive without a hash gets the state's if it is
	// otherwise equal.
	Snapshot *lumigl.Snapshot
	// Recognized pairs resources of the state with desired ones. In Named, these are unnamed, and have the URN of the old
	// resource in Snapshot. Moves pairs deleted and created resources with equal inputs. These are guesses: Snapshot does
	// not depend on them.
	Recognized diff.Recognized
}

// Settle settles desired state against a snapshot of the current state. An unnamed resource is recognized as the only
// one in its module with equal inputs or, failing that, with equal properties that cannot be changed in place.
//
// Both snapshots must be valid. Neither is changed, and neither may be while the result is in use.
func Settle(state, desired *lumigl.Snapshot, types Types) (*Settled, error) {
	s, err := newSettler(state, desired, types, nil)
	if err != nil {
		return nil, err
	}
	var named []match.Pair
	if unnamed := slices.DeleteFunc(missing(s.settled, state), isNamed); len(unnamed) > 0 {
		// The named resources have to be settled first, since unnamed ones may refer to their properties.
		named = match.Recognize(missing(state, s.settled), unnamed, s, inModule(types.inputs), inModule(types.Replaces.Identity))
		for i, n := range named {
			named[i].New = desired.Vertex(n.New.Key())
		}
		if s, err = newSettler(state, desired, types, named); err != nil {
			return nil, err
		}
	}
	return &Settled{Snapshot: s.settled, Recognized: diff.Recognized{
		Moves:  match.Recognize(missing(state, s.settled), missing(s.settled, state), s, types.inputs),
		Reason: "all that the program says is the same, but for the URN",
		Named:  named,
	}}, nil
}

// LooksDesired reports whether a snapshot looks like desired state: it has resources, and none has an id.
func LooksDesired(s *lumigl.Snapshot) bool {
	all := slices.Collect(s.Vertices())
	return len(all) > 0 && !slices.ContainsFunc(all, func(r *lumigl.Vertex) bool { return r.ID != "" })
}

// missing returns the resources of one snapshot whose URNs another one does not have.
func missing(of, in *lumigl.Snapshot) (all []*lumigl.Vertex) {
	for r := range of.Vertices() {
		if in.Vertex(r.Key()) == nil {
			all = append(all, r)
		}
	}
	return all
}

// isNamed reports whether a resource has a name, as opposed to a number that stands for one until its provider chooses it.
// In a component such as web, the name is web/#1.
func isNamed(r *lumigl.Vertex) bool {
	name := urn.URN(r.Key()).Name()
	number, ok := strings.CutPrefix(name[strings.LastIndexByte(name, '/')+1:], "#")
	return !ok || number == "" || strings.Trim(number, "0123456789") != ""
}

// inputs is a view of the properties that programs set.
func (t *Types) inputs(r *lumigl.Vertex, old bool) (lumigl.Value, bool) {
	outputs := t.Outputs[r.Type]
	if r.Properties.Exists() && (!old || len(outputs) == 0) {
		return r.Properties, true
	}
	var inputs lumigl.ObjectBuilder
	inputs.SetAll(r.Properties)
	for _, name := range outputs {
		inputs.Set(name, lumigl.Value{})
	}
	return inputs.Object(), true
}

// inModule extends a view by the resource's URN without the name.
func inModule(view match.View) match.View {
	return func(r *lumigl.Vertex, old bool) (lumigl.Value, bool) {
		v, ok := view(r, old)
		module := strings.TrimSuffix(r.Key(), urn.URN(r.Key()).Name())
		return lumigl.ListOf(lumigl.TextOf(module), v), ok
	}
}
