package graph

import (
	"cmp"
	"strconv"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// Snapshot returns the newest versions of all modules as a single snapshot. Each module with provided values has a
// vertex. The field "versions" lists resources found only in older versions, by deployment, along with the modules that
// need them. Pending resources are included with only their IDs.
func (g *Graph) Snapshot() *lumigl.Snapshot {
	s := &lumigl.Snapshot{Lineage: g.Lineage}
	var versions lumigl.ObjectBuilder
	for _, module := range g.Modules() {
		newest := cmp.Or(g.Newest(module), &Version{})
		for _, r := range newest.resources {
			must(s.Add(r.URN)).ID = r.ID
		}
		for _, b := range g.Beside(module) {
			versions.Set(strconv.FormatInt(int64(b.Deployment), 10), b.describe())
		}
		for _, p := range g.pending[module] {
			if p.Resource.IsRead() {
				continue
			}
			v := must(lumigl.NewResource(p.Resource.URN))
			v.ID = p.Resource.ID
			s.Pending.Deletes = append(s.Pending.Deletes, v)
		}
	}
	for _, module := range g.Modules() { // all resources have vertices now
		if newest := g.Newest(module); newest != nil {
			g.describe(newest, s)
		}
	}
	if versions.Len() > 0 {
		s.Fields = []lumigl.Member{field("versions", versions.Object())}
	}
	return s
}

// describe sets the properties and options of a version's resource vertices and adds the vertex of its module.
func (g *Graph) describe(newest *Version, s *lumigl.Snapshot) {
	inSnapshot := func(to *lumigl.Vertex, property string) lumigl.Value {
		found := s.Vertex(to.Key())
		if found == nil || found.Type == lumigl.ModuleType { // For example, a reference in an unknown value.
			return lumigl.Value{}
		}
		return lumigl.PropertyOf(found, property)
	}
	for _, r := range newest.resources {
		v := s.Vertex(string(r.URN))
		v.Properties, v.Options = refer(r.Properties(), inSnapshot), refer(r.Options, inSnapshot)
		if r.Options.Get(ReadOption).Exists() { // The ID may come from another module.
			v.Options = object(field(ReadOption, lumigl.TextOf(r.ID)))
		}
	}
	if len(newest.Provides) == 0 {
		return
	}
	var provides lumigl.ObjectBuilder
	for _, p := range newest.Provides {
		value := refer(p.Result, inSnapshot)
		if !value.Exists() {
			value = lumigl.TextOf(wire.Unknown)
		}
		provides.Set(p.Name, object(field("type", p.Type.Form), field("value", value)))
	}
	u := must(moduleURN(g.Environment, newest.Module))
	must(s.Add(u)).Properties = object(field("provides", provides.Object()))
}

// describe returns the version's resources for the field "versions". References become plain data, since fields cannot
// contain references.
func (b Beside) describe() lumigl.Value {
	asData := func(to *lumigl.Vertex, _ string) lumigl.Value {
		return object(field(lumigl.DefaultTag, lumigl.TextOf(to.Key())))
	}
	var users []lumigl.Value
	for _, user := range b.Users {
		users = append(users, lumigl.TextOf(user))
	}
	var all lumigl.ObjectBuilder
	for _, r := range b.Resources {
		all.Set(string(r.URN), object(
			field("type", lumigl.TextOf(string(r.Type()))),
			field("id", lumigl.TextOf(r.ID)),
			field("neededBy", lumigl.ListOf(users...)),
			field("options", refer(r.Options, asData)),
			field("properties", refer(r.Properties(), asData)),
		))
	}
	return all.Object()
}

// refer returns v with each reference replaced by the result of reference. If the result is absent, the element or
// member is removed.
func refer(v lumigl.Value, reference func(to *lumigl.Vertex, property string) lumigl.Value) lumigl.Value {
	return v.Replace(func(part lumigl.Value) (lumigl.Value, bool) {
		to, property, ok := part.Target()
		if !ok {
			return part, false
		}
		return reference(to, property), true
	})
}

func object(members ...lumigl.Member) lumigl.Value { return lumigl.ObjectOf(members...) }

func field(key string, v lumigl.Value) lumigl.Member { return lumigl.Member{Key: key, Value: v} }

// must returns v and panics if err is not nil. Its errors, duplicate and malformed URNs, cannot occur in a valid graph.
func must[V any](v V, err error) V {
	if err != nil {
		panic("graph: " + err.Error())
	}
	return v
}
