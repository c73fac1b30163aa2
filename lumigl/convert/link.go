package convert

import (
	"slices"

	"github.com/lumi-idl/lumi/internal/dag"
	"github.com/lumi-idl/lumi/lumigl"
)

// rank orders the places by what has to be before what, in a way that any circle is cut at the same edge each time. What
// refers only to places of lower rank is in no circle.
func (a *assembly) rank() {
	var places []*place
	number := func(p *place) int32 {
		if p.rank == 0 {
			places = append(places, p)
			p.rank = len(places)
		}
		return int32(p.rank - 1)
	}
	for _, d := range a.drafts {
		number(d.place)
	}
	var g dag.Graph
	for i := 0; i < len(places); i++ {
		for _, before := range places[i].before {
			g.To = append(g.To, number(before))
		}
		g.End()
	}
	for i, p := range g.PostOrder() {
		places[p].rank = i + 1
	}
}

// may reports whether a resource may refer to another without making a circle.
func (d *draft) may(to *draft) bool { return d.state != live || to.place.rank < d.place.rank }

// mostSearched bounds how many resources are looked at for one property or list of dependencies, where the work would
// otherwise grow with the square of the source.
const mostSearched = 100

// explicit is a reference that the source itself says.
type explicit struct {
	from, to *draft
	said     *source
	property string
}

// placeReferences has references count in the order of resources, of those that the source says all that properties have.
// Others are in values that gave way, and went to the extensions.
func (a *assembly) placeReferences() {
	targets := map[*draft]map[*lumigl.Vertex]bool{}
	a.references = slices.DeleteFunc(a.references, func(r explicit) bool {
		if targets[r.from] == nil {
			targets[r.from] = r.from.targets()
		}
		return !targets[r.from][r.to.Vertex]
	})
	for _, r := range a.references {
		r.from.place.before = append(r.from.place.before, r.to.place)
	}
}

// keptAs says what becomes of a reference that cannot be one.
func keptAs(property string) string {
	if property != "" {
		return "the URN is kept as a string, without the property name"
	}
	return "the URN is kept as a string, not as a reference"
}

// cut turns references that are in circles into the URNs of what they lead to. All others stay.
func (a *assembly) cut() {
	cut := map[*draft]map[*lumigl.Vertex]bool{}
	for _, r := range a.references {
		if r.from.may(r.to) {
			continue
		}
		r.said.note(CircleLoss, "%s: it would create a dependency cycle", keptAs(r.property))
		if cut[r.from] == nil {
			cut[r.from] = map[*lumigl.Vertex]bool{}
		}
		cut[r.from][r.to.Vertex] = true
	}
	for d, targets := range cut {
		for i := range d.properties {
			p := &d.properties[i].Value
			*p = p.Replace(func(v lumigl.Value) (lumigl.Value, bool) {
				to, _, ok := v.Target()
				if !ok || !targets[to] {
					return v, false
				}
				return lumigl.TextOf(to.Key()), true
			})
		}
	}
}

// link replaces the strings in a property that stand for another resource, as find says, by references. It does not look
// into special values.
func (a *assembly) link(d *draft, p *lumigl.Value, find func(text string) (to *draft, property string)) {
	if a.options.KeepValues {
		return
	}
	*p = p.Replace(func(v lumigl.Value) (lumigl.Value, bool) {
		if isSpecial(v) {
			return v, true
		}
		text, ok := v.Text()
		if !ok || text == "" {
			return v, false
		}
		to, name := find(text)
		if to == nil || !d.may(to) {
			return v, false
		}
		a.linked++
		return lumigl.PropertyOf(to.Vertex, name), true
	})
}

// targets are what the properties of a resource refer to.
func (d *draft) targets() map[*lumigl.Vertex]bool {
	all := map[*lumigl.Vertex]bool{}
	for _, p := range d.properties {
		for to := range p.Value.References() {
			all[to] = true
		}
	}
	return all
}
