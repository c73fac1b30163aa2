package graph

import (
	"slices"
	"testing"
)

func TestChanges(t *testing.T) {
	const foodb1, foodb3, users, old = "a:aws:rds:Database::foodb:1", "a:aws:rds:Database::foodb:3", "a:aws:rds:Table::users:1", "a:aws:rds:Table::old:1:old"
	all := []string{"a::1", "a::3", foodb1, foodb3, old, users, "b::2", "c::4", "root"}
	empty := &Graph{Environment: "prod", Lineage: "8f2c"}
	g := example()
	moved := g.clone()
	moved.newest["c"] = VersionID{"c", 2}
	without := g.clone()
	delete(without.pending, "a")
	users1 := g.versions["a"][0].Resource("urn:lumi:prod::a:index::aws:rds:Table::users")
	reduced := g.clone()
	set(reduced.versions, "a", g.versions["a"][1:])
	left := reduced.Leave("a", Pending{Resource: users1})
	again := *g.versions["a"][1].resources[0]
	replaced := g.clone()
	replaced.put(g.versions["a"][1].with(InOrder([]*Resource{&again})))
	pending := without.Leave("a", Pending{Resource: g.pending["a"][0].Resource})
	held := g.clone()
	held.pending["a"] = slices.Clone(g.pending["a"])
	held.pending["a"][0].Held = true
	both := g.clone()
	set(both.versions, "a", append(slices.Clone(g.versions["a"]), NewVersion(VersionID{"a", 5}, []*Resource{users1})))
	neither := both.clone()
	set(neither.versions, "a", both.versions["a"][1:2])
	for _, test := range []struct {
		name          string
		before, after *Graph
		put, gone     []string
	}{
		{"nothing", g, g, nil, nil},
		{"the zero graph", empty, &Graph{}, nil, nil},
		{"all", empty, g, all, nil},
		{"none", g, empty, nil, all},
		{"an edge of the root", g, moved, []string{"root"}, nil},
		{"a configuration", g, pending, []string{"root"}, nil},
		{"a held deletion", g, held, []string{"root"}, nil},
		{"nothing is pending", g, without, []string{"root"}, []string{old}},
		{"a version", g, reduced, nil, []string{"a::1", foodb1, users}},
		{"two versions", both, neither, nil, []string{"a::1", "a::5", foodb1, users}},
		{"to be deleted", g, left, []string{users + ":users", "root"}, []string{"a::1", foodb1, users}},
		{"a resource in place", g, replaced, []string{"a::3", foodb3}, nil},
		{"unshared graphs", g, example(), all, nil},
	} {
		put, gone := Changes(test.before, test.after)
		var keys []string
		for _, v := range put {
			keys = append(keys, v.Key())
		}
		if !slices.Equal(keys, test.put) || !slices.Equal(gone, test.gone) {
			t.Errorf("%s: Changes() = %q, %q, want %q, %q", test.name, keys, gone, test.put, test.gone)
		}
	}
}
