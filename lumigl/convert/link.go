package convert

import (
	"slices"

	"github.com/lumi-idl/lumi/internal/dag"
	"github.com/lumi-idl/lumi/lumigl"
)

// rank assigns ranks to places in dependency order, so that cycles are always cut at the same edges. A place that
// refers only to places with a lower rank is not on a cycle.
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

// may reports whether d can refer to another resource without creating a cycle.
func (d *draft) may(to *draft) bool { return d.state != live || to.place.rank < d.place.rank }

// mostSearched limits the number of resources searched for a property or dependency list, which bounds the running
// time.
const mostSearched = 100

// explicit is an explicit reference in the source.
type explicit struct {
	from, to *draft
	said     *source
	property string
}

// placeReferences adds explicit references to the dependency order, in resource order. It skips references in
// overridden values, which have moved to the extensions.
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

// keptAs describes the replacement of a reference to a vertex or one of its properties, for messages.
func keptAs(property string) string {
	if property != "" {
		return "the URN is kept as a string, without the property name"
	}
	return "the URN is kept as a string, not as a reference"
}

// cut replaces references on cycles with the URNs of their targets.
func (a *assembly) cut() {
	cut := map[*draft]map[*lumigl.Vertex]bool{}
	for _, r := range a.references {
		if r.from.may(r.to) {
			continue
		}
		r.said.note(CircleLoss, "%s: a reference would create a dependency cycle", keptAs(r.property))
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

// link replaces strings in a property with references, as returned by find. It does not look inside special values.
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

// targets returns the vertices referenced by a resource's properties.
func (d *draft) targets() map[*lumigl.Vertex]bool {
	all := map[*lumigl.Vertex]bool{}
	for _, p := range d.properties {
		for to := range p.Value.References() {
			all[to] = true
		}
	}
	return all
}
