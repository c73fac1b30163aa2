package graph

import (
	"testing"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/test/kit/expect"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	resource := func(name, id string, dependencies ...urn.URN) *Resource {
		return &Resource{URN: urn.URN("urn:lumi:dev::a:index::t:i:T::" + name), Deployment: 1, ID: id, Dependencies: dependencies}
	}
	db := resource("db", "1")
	app := resource("app", "2", db.URN)
	text := Type{Form: lumigl.TextOf("string")}
	version := func(module string, deployment Deployment, resources ...*Resource) *Version {
		v := NewVersion(VersionID{module, deployment}, resources)
		v.Provides = []Provided{{Name: "foo", Type: text}}
		return v
	}
	uses := func(v *Version, to VersionID, name string) *Version {
		v.Uses = append(v.Uses, Edge{To: to, Constraint: Constraint{Module: to.Module, Name: name, Type: text}})
		return v
	}
	partial := version("a", 1)
	partial.Partial = true
	a1, b1 := VersionID{"a", 1}, VersionID{"b", 1}
	both := map[string]VersionID{"a": a1, "b": b1}
	for _, test := range []struct {
		g    Graph
		want string
	}{
		{Graph{newest: map[string]VersionID{"a": a1}}, "the root refers to a::1, which does not exist"},
		{Graph{newest: map[string]VersionID{"a": a1}, versions: map[string][]*Version{"a": {partial}}}, "the root refers to a::1, which does not exist"},
		{Graph{versions: map[string][]*Version{"b": {uses(version("b", 1), a1, "foo")}}}, "b::1 refers to a::1, which does not exist"},
		{
			Graph{versions: map[string][]*Version{"a": {version("a", 1)}, "b": {uses(version("b", 1), a1, "bar")}}},
			`b::1 uses a.bar, but a::1 is incompatible: "bar" is not provided`,
		},
		{
			Graph{newest: both, versions: map[string][]*Version{
				"a": {uses(version("a", 1), b1, "foo")}, "b": {uses(version("b", 1), a1, "foo")},
			}},
			"dependency cycle between modules: a uses b, b uses a",
		},
		{Graph{versions: map[string][]*Version{"a": {version("a", 1), version("a", 1)}}}, "duplicate version key a::1"},
		{
			Graph{versions: map[string][]*Version{"a": {version("a", 1, db), version("a", 2, resource("db", "3"))}}},
			"duplicate resource key a:t:i:T::db:1",
		},
		{
			Graph{versions: map[string][]*Version{"a": {version("a", 1, app, db)}}},
			"in a::1, a:t:i:T::app:1 precedes its dependency a:t:i:T::db:1",
		},
		{
			Graph{versions: map[string][]*Version{"a": {version("a", 1, db)}}, pending: map[string][]Pending{"a": {{Resource: db}}}},
			"a:t:i:T::db:1 is pending deletion, but a::1 contains it",
		},
		{Graph{newest: map[string]VersionID{"a": a1}, versions: map[string][]*Version{"a": {version("a", 1, db, app)}}}, ""},
	} {
		got := ""
		if err := test.g.Check(); err != nil {
			got = err.Error()
		}
		expect.Equal(t, test.want, got)
	}
}
