package graph

import (
	"strings"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// ReferentsOf returns the Referents of properties: the IDs of the resources they refer to. Resources without an ID (id
// returns "") are omitted.
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

// referentKey returns a resource's key in Referents. It includes the type because IDs are unique only within a type.
func referentKey(t tokens.Type, id string) string { return string(t) + " " + id }

// ReferentIDs returns the IDs in Referents by URN. If a URN is ambiguous after a partially failed change, its ID
// matches neither candidate.
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

// WithID returns a resource with the given type and ID, or nil.
func (g *Graph) WithID(t tokens.Type, id string) (found *Resource) {
	g.each(func(r *Resource) {
		if found == nil && r.ID == id && r.Type() == t {
			found = r
		}
	})
	return found
}

// Users returns a function that finds the resources whose Referents include a given resource.
func (g *Graph) Users() func(*Resource) []*Resource {
	users := map[string][]*Resource{}
	g.each(func(r *Resource) {
		for key := range r.Referents.Members() {
			users[key] = append(users[key], r)
		}
	})
	return func(to *Resource) []*Resource { return users[referentKey(to.Type(), to.ID)] }
}

// each calls f for each resource of the graph, including pending ones.
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
