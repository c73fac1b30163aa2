package graph

import (
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// ReferentsOf returns the value of [Resource.Referents] for properties. The function id returns the ID of a resource,
// or "" to omit the resource.
func ReferentsOf(properties lumigl.Value, id func(urn.URN) string) lumigl.Value {
	var all lumigl.ObjectBuilder
	for to := range properties.References() {
		if found := id(to.URN()); found != "" {
			all.Set(referentKey(to.URN().Type(), found), lumigl.ReferenceTo(to))
		}
	}
	if all.Len() == 0 {
		return lumigl.Value{}
	}
	return all.Object()
}

// referentKey returns the key of a resource in Referents. It includes the type because IDs are unique only within a
// type.
func referentKey(t tokens.Type, id string) string { return string(t) + " " + id }

// SourcesOf returns the value of [Resource.Sources] for properties of the program, given the uses of its version.
func (g *Graph) SourcesOf(properties lumigl.Value, uses []Edge) []string {
	var all []string
	for vertex, property := range properties.References() {
		if e := edgeOf(uses, vertex, property); e != nil {
			for _, r := range g.Version(e.To).sources(e.Name) {
				all = append(all, referentKey(r.Type(), r.ID))
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// ReferentIDs returns the IDs in Referents by URN. If a partially failed change left two IDs for a URN, they are joined
// to a string that matches neither of them.
func (r *Resource) ReferentIDs() map[urn.URN]string {
	if r.Referents.Len() == 0 {
		return nil
	}
	all := make(map[urn.URN]string, r.Referents.Len())
	for key, v := range r.Referents.Members() {
		_, id, _ := strings.Cut(key, " ")
		if to, _, ok := v.Target(); ok {
			if other, found := all[to.URN()]; found {
				id += " or " + other
			}
			all[to.URN()] = id
		}
	}
	return all
}

// WithID returns the first resource with the given type and ID, or nil if there is none.
func (g *Graph) WithID(t tokens.Type, id string) (found *Resource) {
	g.each(func(r *Resource) {
		if found == nil && r.ID == id && r.Type() == t {
			found = r
		}
	})
	return found
}

// Users returns a function that returns the resources whose Referents include a given resource.
func (g *Graph) Users() func(*Resource) []*Resource {
	users := map[string][]*Resource{}
	g.each(func(r *Resource) {
		for key := range r.Referents.Members() {
			users[key] = append(users[key], r)
		}
	})
	return func(to *Resource) []*Resource { return users[referentKey(to.Type(), to.ID)] }
}

// each calls f for each resource of the graph, including pending ones. A resource shared by versions is visited more
// than once.
func (g *Graph) each(f func(*Resource)) {
	for _, v := range g.all() {
		for _, r := range v.resources {
			f(r)
		}
	}
	for _, module := range g.Modules() {
		for _, p := range g.pending[module] {
			f(p.Resource)
		}
	}
}
