package diff

import (
	"slices"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Outputs has the names of the properties of each type that providers set, and programs do not.
type Outputs map[tokens.Type][]string

// Desired returns what there will be once a program's wish has come true, as far as anybody can say: the desired
// snapshot, with what only deployments know as it is in the state. That is the lineage, the serial and what is pending,
// and of each resource that is in both the id, the extensions and the outputs, unless the program has some of its own.
// Its difference to the state is what the program wants to have changed. Neither snapshot is changed, and neither may be
// while the result is in use.
func Desired(state, desired *lumigl.Snapshot, outputs Outputs) (*lumigl.Snapshot, error) {
	s := &lumigl.Snapshot{
		Package: desired.Package, Args: desired.Args, Lineage: state.Lineage, Serial: state.Serial, Pending: state.Pending,
	}
	s.Tag, s.Fields = desired.Tag, desired.Fields
	for r := range desired.Vertices() {
		if _, err := s.Add(urn.URN(r.Key())); err != nil {
			return nil, err
		}
	}
	here := func(r *lumigl.Vertex) *lumigl.Vertex { return s.Vertex(r.Key()) }
	for r := range desired.Vertices() {
		n := s.Vertex(r.Key())
		n.Type, n.ID, n.Extensions, n.Properties = r.Type, r.ID, r.Extensions, r.Properties.Retarget(here)
		was := state.Vertex(r.Key())
		if was == nil {
			continue
		}
		if n.ID == "" {
			n.ID = was.ID
		}
		if !n.Extensions.Exists() {
			n.Extensions = was.Extensions
		}
		for _, name := range outputs[r.Type] {
			value := was.Properties.Key(name)
			if !n.Properties.Key(name).Exists() && value.Exists() && leadsInto(s, value) {
				n.Properties = n.Properties.With(name, value.Retarget(here))
			}
		}
	}
	return s, nil
}

// leadsInto reports whether all references in a value are to what is in a snapshot.
func leadsInto(s *lumigl.Snapshot, v lumigl.Value) bool {
	for target := range v.References() {
		if s.Vertex(target.Key()) == nil {
			return false
		}
	}
	return true
}

// LooksDesired reports whether a snapshot looks like what a program wants: it has resources, and none has an id.
func LooksDesired(s *lumigl.Snapshot) bool {
	all := slices.Collect(s.Vertices())
	return len(all) > 0 && !slices.ContainsFunc(all, func(r *lumigl.Vertex) bool { return r.ID != "" })
}
