package graph

import (
	"cmp"
	"strconv"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// Snapshot returns the newest version of each module as one snapshot, in which each module has a vertex with its
// provided values. The field "versions" lists, by deployment, resources that only older versions contain, with the
// modules that need them. Resources pending deletion are included with their IDs only.
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
			v := must(lumigl.NewResource(p.Resource.URN))
			v.ID = p.Resource.ID
			s.Pending.Deletes = append(s.Pending.Deletes, v)
		}
	}
	for _, module := range g.Modules() { // all resources exist now
		if newest := g.Newest(module); newest != nil {
			g.describe(newest, s)
		}
	}
	if versions.Len() > 0 {
		s.Fields = []lumigl.Member{field("versions", versions.Object())}
	}
	return s
}

// describe fills in the vertices of a version's resources and adds the vertex of its module.
func (g *Graph) describe(newest *Version, s *lumigl.Snapshot) {
	inSnapshot := func(to *lumigl.Vertex, property string) lumigl.Value {
		found := s.Vertex(to.Key())
		if found == nil || found.Type == lumigl.ModuleType { // For example, in a value that is not known yet.
			return lumigl.Value{}
		}
		return lumigl.PropertyOf(found, property)
	}
	for _, r := range newest.resources {
		v := s.Vertex(string(r.URN))
		v.Properties, v.Options = refer(r.Properties(), inSnapshot), refer(r.Options, inSnapshot)
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

// describe returns the resources for a snapshot field. Fields cannot contain references, so they become plain data.
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

// refer returns a value with references replaced. An absent replacement removes the element or member.
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

// must returns v. Its errors, duplicate and malformed URNs in newest versions, cannot occur in a valid graph.
func must[V any](v V, err error) V {
	if err != nil {
		panic("graph: " + err.Error())
	}
	return v
}
