package taskgraph_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func layer(t *testing.T, name, tasks string) taskgraph.Layer {
	t.Helper()
	g := must.Get(taskgraph.Parse([]byte(tasks), name))(t)
	return taskgraph.Layer{Name: name, Tasks: g.Tasks}
}

// explain returns one line per attribute with its value and the layer that set it.
func explain(e *taskgraph.Effective) string {
	var lines []string
	for _, task := range e.Tasks {
		lines = append(lines, task.ID+" < "+e.Origin(task.ID, "id"))
		for _, name := range task.Names() {
			v, _ := json.Marshal(task.Attributes[name])
			lines = append(lines, "  "+name+": "+string(v)+" < "+e.Origin(task.ID, name))
		}
	}
	return strings.Join(lines, "\n")
}

func TestMerge(t *testing.T) {
	t.Parallel()
	layers := []taskgraph.Layer{
		layer(t, "release", "- {id: a, type: shell, roles: [x], parameters: {cmd: one, retries: 2}}\n- {id: b, type: shell, groups: y}"),
		layer(t, "cluster", "- {id: c, type: anchor}\n- {id: a, groups: [z], parameters: {cmd: two}}"),
		layer(t, "plugins", "- {id: b, roles: null, custom: 1}"),
	}
	for _, c := range []struct {
		whole bool
		want  string
	}{
		{false, `a < release
  type: "shell" < release
  groups: ["z"] < cluster
  parameters: {"cmd":"two"} < cluster
b < release
  type: "shell" < release
  roles: null < plugins
  custom: 1 < plugins
c < cluster
  type: "anchor" < cluster`},
		{true, `a < cluster
  groups: ["z"] < cluster
  parameters: {"cmd":"two"} < cluster
b < plugins
  roles: null < plugins
  custom: 1 < plugins
c < cluster
  type: "anchor" < cluster`},
	} {
		if diff := cmp.Diff(c.want, explain(taskgraph.Merge(layers, c.whole))); diff != "" {
			t.Errorf("Merge with whole=%t mismatch (-want +got):\n%s", c.whole, diff)
		}
	}
}

func TestMergePlugins(t *testing.T) {
	t.Parallel()
	log, lma := layer(t, "plugin log 1", "- {id: a, roles: [x], type: shell}"), layer(t, "plugin lma 2", "- {id: a, groups: [x], version: 1}\n- {id: b}")
	merged := must.Get(taskgraph.MergePlugins([]taskgraph.Layer{log, lma}))(t)
	const want = "a < plugin log 1\n  version: 1 < plugin lma 2\n  type: \"shell\" < plugin log 1\n  groups: [\"x\"] < plugin lma 2\nb < plugin lma 2"
	expect.Equal(t, want, explain(taskgraph.Merge([]taskgraph.Layer{merged}, false)))
	_, err := taskgraph.MergePlugins([]taskgraph.Layer{log, lma, layer(t, "plugin net 3", "- {id: a, roles: [y], type: shell, version: null}")})
	const wrong = "task a: plugin lma 2 and plugin net 3 have different values for version; remove one of them\n" +
		"task a: plugin log 1 and plugin net 3 have different values for roles; remove one of them"
	expect.Equal(t, wrong, message(err))
}

func drawLayer(t *rapid.T, name string) taskgraph.Layer {
	l := taskgraph.Layer{Name: name}
	for _, id := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 3, rapid.ID).Draw(t, name) {
		attributes := rapid.MapOfN(rapid.SampledFrom([]string{"type", "roles", "requires", "x"}), rapid.Just[any](name), 0, 4).Draw(t, id)
		if v, has := attributes["roles"]; has && rapid.Bool().Draw(t, "groups") {
			delete(attributes, "roles")
			attributes["groups"] = v
		}
		l.Tasks = append(l.Tasks, taskgraph.Task{ID: id, Attributes: attributes})
	}
	return l
}

// Merging neighboring layers first gives the same result. The last layer that sets an attribute wins.
func TestMergeIsAssociative(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := drawLayer(t, "1"), drawLayer(t, "2"), drawLayer(t, "3")
		whole := rapid.Bool().Draw(t, "whole")
		merge := func(layers ...taskgraph.Layer) taskgraph.Layer {
			return taskgraph.Layer{Tasks: taskgraph.Merge(layers, whole).Tasks}
		}
		before := must.Get(json.Marshal([]any{a, b, c}))(t)
		e := taskgraph.Merge([]taskgraph.Layer{a, b, c}, whole)
		for _, other := range []taskgraph.Layer{merge(merge(a, b), c), merge(a, merge(b, c))} {
			if diff := cmp.Diff(e.Tasks, other.Tasks); diff != "" {
				t.Fatalf("tasks depend on the order of merging:\n%s", diff)
			}
		}
		if after, err := json.Marshal([]any{a, b, c}); err != nil || string(after) != string(before) {
			t.Fatalf("Merge changed the layers to %s, want %s (error: %v)", after, before, err)
		}
		want := map[string]map[string]any{}
		for _, l := range []taskgraph.Layer{a, b, c} {
			for _, task := range l.Tasks {
				if want[task.ID] == nil || whole {
					want[task.ID] = map[string]any{}
				}
				for name := range task.Attributes {
					delete(want[task.ID], map[string]string{"roles": "groups", "groups": "roles"}[name])
				}
				maps.Copy(want[task.ID], task.Attributes)
			}
		}
		for _, task := range e.Tasks {
			if !cmp.Equal(want[task.ID], task.Attributes) {
				t.Fatalf("attributes of task %s = %v, want %v", task.ID, task.Attributes, want[task.ID])
			}
			for _, name := range []string{"type", "roles", "groups", "requires", "x"} {
				if v, has := task.Attributes[name]; has && e.Origin(task.ID, name) != v || !has && e.Origin(task.ID, name) != "" {
					t.Fatalf("Origin(%s, %s) = %s, want %v", task.ID, name, e.Origin(task.ID, name), v)
				}
			}
		}
		if len(want) != len(e.Tasks) {
			t.Fatalf("Merge returned %d tasks, want %d", len(e.Tasks), len(want))
		}
	})
}

func TestDiff(t *testing.T) {
	t.Parallel()
	before := layer(t, "", "- {id: a, type: shell, parameters: {n: 1, m: [1]}}\n- {id: b, x: 1}\n- {id: c, roles: [y], z: null}\n- {id: d, x: {y: 0x10}}")
	after := layer(t, "", "- {id: d, x: {y: 16}}\n- {id: e, type: anchor}\n- {id: c, groups: [y]}\n- {id: a, type: shell, parameters: {n: 1, m: [2]}}")
	var got []string
	for _, c := range taskgraph.Diff(before.Tasks, after.Tasks) {
		kind, task := "changed", c.New
		switch {
		case c.Old == nil:
			kind = "added"
		case c.New == nil:
			kind, task = "removed", c.Old
		}
		got = append(got, kind+" "+task.ID+": "+strings.Join(c.Attributes, " "))
	}
	expect.Equal(t, []string{"added e: type", "changed c: roles groups z", "changed a: parameters", "removed b: x"}, got)
	if changes := taskgraph.Diff(before.Tasks, before.Tasks); changes != nil {
		t.Errorf("Diff of equal graphs = %v, want none", changes)
	}
}
