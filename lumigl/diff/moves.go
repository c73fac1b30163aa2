package diff

import (
	"slices"

	"github.com/lumi-idl/lumi/lumigl"
)

// moves finds created resources that are the same as one which was deleted, but for its outputs: a program has none of
// these.
func moves(d *Delta, outputs Outputs, s *settler) []Move {
	var deleted, created []*lumigl.Vertex
	for i := range d.Resources {
		switch r := &d.Resources[i]; r.Kind {
		case Deleted:
			deleted = append(deleted, r.Old)
		case Created:
			created = append(created, r.New)
		}
	}
	var all []Move
	for i, old := range recognize(deleted, created, s, outputs.inputs) {
		if old != nil {
			all = append(all, Move{Old: old, New: created[i]})
		}
	}
	return all
}

// inputs are what a program says of a resource.
func (o Outputs) inputs(r *lumigl.Vertex, old bool) (lumigl.Value, bool) {
	all := bag(r.Properties)
	if outputs := o[r.Type]; old && len(outputs) > 0 {
		all = filter(all, func(name string) bool { return !slices.Contains(outputs, name) })
	}
	return all, true
}

// filter are the properties whose names are wanted.
func filter(properties lumigl.Value, wanted func(name string) bool) lumigl.Value {
	var left members
	for name, v := range properties.Members() {
		if wanted(name) {
			left.add(name, v)
		}
	}
	return lumigl.ObjectOf(left...)
}
