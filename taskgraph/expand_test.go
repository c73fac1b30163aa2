package taskgraph_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func selector(t *testing.T, patterns ...string) taskgraph.Selector {
	t.Helper()
	return must.Get(taskgraph.NewSelector(patterns...))(t)
}

// name returns the name of a vertex. Nodes are named n0, n1, and so on.
func name(v taskgraph.Vertex) string {
	if v.Node < 0 {
		return v.Task.ID
	}
	return "n" + string(rune('0'+v.Node)) + "/" + v.Task.ID
}

// waits returns one line per vertex with its dependencies.
func waits(x *taskgraph.Expansion) []string {
	var lines []string
	for v, vertex := range x.Vertices {
		line := name(vertex)
		for _, to := range x.Graph.Out(int32(v)) {
			if int(to) < len(x.Vertices) {
				line += " " + name(x.Vertices[to])
				continue
			}
			var of []string
			for _, member := range x.Graph.Out(to) {
				of = append(of, name(x.Vertices[member]))
			}
			kind := " all("
			if x.Any[to] {
				kind = " any("
			}
			line += kind + strings.Join(of, " ") + ")"
		}
		lines = append(lines, line)
	}
	return lines
}

func TestExpand(t *testing.T) {
	t.Parallel()
	all, db, web := selector(t, "*"), selector(t, "db"), selector(t, "/w.*/")
	nodes := [][]string{{"db"}, {"web"}, {"web", "db"}}
	for _, c := range []struct {
		name  string
		specs []*taskgraph.Spec
		want  string
	}{
		{"requires on the same node", []*taskgraph.Spec{
			{ID: "a", Roles: all, RequiredFor: []string{"c"}}, {ID: "b", Roles: db, Requires: []string{"a", "gone"}}, {ID: "c", Roles: web},
		}, "n0/a|n1/a|n2/a|n0/b n0/a|n2/b n2/a|n1/c n1/a|n2/c n2/a"},
		{"cross dependencies", []*taskgraph.Spec{
			{ID: "a", Roles: all}, {ID: "b", Roles: db, CrossDepends: []taskgraph.Cross{{Name: "a", Role: web}, {Name: "a", Role: web, Any: true}}},
			{ID: "c", Roles: web, CrossDepends: []taskgraph.Cross{{Name: "a", Self: true}, {Name: "b", Role: selector(t, "none")}}},
		}, "n0/a|n1/a|n2/a|n0/b all(n1/a n2/a) any(n1/a n2/a)|n2/b all(n1/a n2/a) any(n1/a n2/a)|n1/c n1/a|n2/c n2/a"},
		{"cross dependents", []*taskgraph.Spec{
			{ID: "a", Roles: web, CrossDependedBy: []taskgraph.Cross{{Name: "b", Role: db, Any: true}, {Name: "c", Self: true}}},
			{ID: "b", Roles: all}, {ID: "c", Roles: all},
		}, "n1/a|n2/a|n0/b any(n1/a n2/a)|n1/b|n2/b any(n1/a n2/a)|n0/c|n1/c n1/a|n2/c n2/a"},
		{"stage", []*taskgraph.Spec{
			{ID: "a", Roles: web}, {ID: "s", Type: taskgraph.StageType, Requires: []string{"a"}}, {ID: "b", Roles: db, Requires: []string{"s"}},
			{ID: "t", Type: taskgraph.StageType, Requires: []string{"s"}, CrossDepends: []taskgraph.Cross{{Name: "b", Role: web}}},
			{ID: "u", Roles: db, CrossDepends: []taskgraph.Cross{{Name: "b"}}},
			{ID: "v", Type: taskgraph.StageType, Requires: []string{"b"}, CrossDepends: []taskgraph.Cross{{Name: "u", Self: true}}},
		}, "n1/a|n2/a|s all(n1/a n2/a)|n0/b s|n2/b s|t s all(n2/b)|n0/u|n2/u|v all(n0/b n2/b) all(n0/u n2/u)"},
		{"groups", []*taskgraph.Spec{
			{ID: "m", Roles: db}, {ID: "z", Roles: all},
			{ID: "inner", Type: taskgraph.GroupType, Roles: db, Tasks: []string{"m"}, CrossDepends: []taskgraph.Cross{{Name: "z", Role: web}}},
			{ID: "outer", Type: taskgraph.GroupType, Roles: db, Tasks: []string{"inner"}, Requires: []string{"z"}},
			{ID: "last", Roles: db, Requires: []string{"outer"}},
		}, "n0/m|n2/m|n0/z|n1/z|n2/z|n0/inner n0/m all(n1/z n2/z)|n2/inner n2/m all(n1/z n2/z)|" +
			"n0/outer n0/inner n0/z|n2/outer n2/inner n2/z|n0/last n0/outer|n2/last n2/outer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			expect.Equal(t, strings.Split(c.want, "|"), waits(taskgraph.Expand(c.specs, nodes)))
		})
	}
}

func TestCycles(t *testing.T) {
	t.Parallel()
	all, db := selector(t, "*"), selector(t, "db")
	x := taskgraph.Expand([]*taskgraph.Spec{
		{ID: "a", Roles: all, Requires: []string{"b"}},
		{ID: "b", Roles: all, CrossDepends: []taskgraph.Cross{{Name: "c", Role: db}}},
		{ID: "c", Roles: all, CrossDepends: []taskgraph.Cross{{Name: "d", Self: true}}},
		{ID: "d", Roles: all, Requires: []string{"a"}},
		{ID: "self", Roles: all, Requires: []string{"self"}},
		{ID: "g", Type: taskgraph.GroupType, Roles: db, Tasks: []string{"m"}, RequiredFor: []string{"e"}, Requires: []string{"e"}},
		{ID: "m", Roles: db}, {ID: "e", Roles: db, CrossDependedBy: []taskgraph.Cross{{Name: "m", Role: all}}},
	}, [][]string{{"web"}, {"db"}, {"web"}})
	want := []taskgraph.Problem{
		{Task: "a", Message: "cycle: n1/a requires n1/b, n1/b cross_depends on n1/c, n1/c cross_depends on n1/d, n1/d requires n1/a"},
		{Task: "self", Message: "cycle: n0/self requires n0/self"},
		{Task: "self", Message: "cycle: n1/self requires n1/self"},
		{Task: "self", Message: "cycle: n2/self requires n2/self"},
		{Task: "g", Message: "cycle: n1/g requires n1/e, n1/e waits for n1/g (required_for of n1/g)"},
	}
	expect.Equal(t, want, x.Cycles(name))
}

func TestCheckedGraphsAreAcyclic(t *testing.T) {
	t.Parallel()
	name := rapid.SampledFrom([]string{"a", "b", "c", "d", "e"})
	role := rapid.SampledFrom([]any{"*", "x", "y", "/[vw]/"})
	names := rapid.Custom(func(t *rapid.T) any {
		list := []any{}
		for _, n := range rapid.SliceOfN(name, 0, 1).Draw(t, "names") {
			list = append(list, n)
		}
		return list
	})
	cross := rapid.Custom(func(t *rapid.T) any {
		if !rapid.Bool().Draw(t, "cross") {
			return nil
		}
		return []any{map[string]any{
			"name": name.Draw(t, "name"), "role": rapid.OneOf(role, rapid.Just[any]("self")).Draw(t, "role"),
			"policy": rapid.SampledFrom([]any{"all", "any"}).Draw(t, "policy"),
		}}
	})
	cyclic, acyclic := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		var l taskgraph.Layer
		for _, id := range []string{"a", "b", "c", "d", "e"} {
			a := map[string]any{"type": "anchor", "roles": role.Draw(t, "roles"), "requires": names.Draw(t, "requires")}
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				a["cross_depends"], a["cross_depended_by"] = cross.Draw(t, "depends"), cross.Draw(t, "depended by")
			case 1:
				a["type"] = taskgraph.StageType
			case 2:
				a["type"], a["tasks"] = taskgraph.GroupType, names.Draw(t, "members")
			}
			l.Tasks = append(l.Tasks, taskgraph.Task{ID: id, Attributes: a})
		}
		specs, err := taskgraph.Check(taskgraph.Merge([]taskgraph.Layer{l}, false), nil)
		if err != nil {
			cyclic++
			for line := range strings.Lines(err.Error()) {
				if !strings.Contains(line, ": cycle: ") {
					t.Fatal(err)
				}
			}
			return
		}
		acyclic++
		var nodes [][]string
		for _, r := range rapid.SliceOfN(rapid.SampledFrom([]string{"v", "w", "x", "y", "z"}), 0, 5).Draw(t, "nodes") {
			nodes = append(nodes, []string{r})
		}
		x := taskgraph.Expand(specs, nodes)
		if cycles := x.Cycles(func(v taskgraph.Vertex) string { return v.Task.ID }); cycles != nil {
			t.Fatalf("Cycles of a checked graph = %v, want none", cycles)
		}
		all := make([]int32, x.Graph.Len())
		for i := range all {
			all[i] = int32(i)
		}
		if sorted := x.Graph.Sort(all); len(sorted) != len(all) {
			t.Fatalf("%d of %d vertices can run, want all", len(sorted), len(all))
		}
	})
	if cyclic == 0 || acyclic == 0 {
		t.Errorf("%d graphs have cycles and %d have none, want some of each", cyclic, acyclic)
	}
}
