package graph

import (
	"cmp"
	"slices"
)

// Beside is a version of a module that exists beside the newest one.
type Beside struct {
	*Version
	// Resources are the version's resources that the newest version does not hold.
	Resources []*Resource
	// Users are the modules that use the version, sorted. There are none if a deployment has not ended or a cleanup is due.
	Users []string
}

// Beside returns the versions of a module that hold resources which the newest one does not hold, oldest first.
func (g *Graph) Beside(module string) []Beside {
	newest, edges, reached := g.Newest(module), g.edges(), g.reached()
	var all []Beside
	for _, v := range g.versions[module] {
		b := Beside{Version: v}
		for _, r := range v.resources {
			if newest == nil || !newest.Holds(r) {
				b.Resources = append(b.Resources, r)
			}
		}
		if len(b.Resources) == 0 {
			continue
		}
		slices.SortFunc(b.Resources, func(x, y *Resource) int { return cmp.Compare(x.URN, y.URN) })
		for _, other := range edges {
			if other.Edge.To == v.VersionID && reached[other.From] {
				b.Users = append(b.Users, other.From.Module)
			}
		}
		slices.Sort(b.Users)
		b.Users = slices.Compact(b.Users)
		all = append(all, b)
	}
	return all
}
