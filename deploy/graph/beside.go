package graph

import (
	"cmp"
	"slices"
)

// Beside is an older version of a module with resources that are not in its newest version.
type Beside struct {
	*Version
	// Resources lists the version's resources that are not in the newest version, sorted by URN.
	Resources []*Resource
	// Users lists the modules that use the version, sorted. It is empty while a deployment is unfinished or a cleanup
	// is pending.
	Users []string
}

// Beside returns the older versions of a module with resources that are not in its newest version, oldest first.
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
