package schedule_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/taskgraph/inventory"
	"github.com/lumi-idl/lumi/taskgraph/schedule"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// input returns the input for task YAML and nodes, each given as "name,role,…".
func input(t *testing.T, tasks string, nodes ...string) schedule.Input {
	t.Helper()
	g := must.Get(taskgraph.Parse([]byte(tasks), "tasks.yaml"))(t)
	in := schedule.Input{Digests: schedule.Digests(g.Tasks), Event: taskgraph.DefaultEvent}
	for _, task := range g.Tasks {
		in.Tasks = append(in.Tasks, must.Get(task.Spec())(t))
	}
	for _, n := range nodes {
		name, roles, _ := strings.Cut(n, ":")
		in.Nodes = append(in.Nodes, inventory.Node{Name: name, Roles: strings.FieldsFunc(roles, func(c rune) bool { return c == ',' })})
	}
	return in
}

// plan returns one line per item with its dependencies and skip reason.
func plan(s *schedule.Schedule) string {
	var lines []string
	for i := range s.Items {
		line := s.Items[i].Name()
		all, some := s.Waits(i)
		for _, names := range some {
			all = append(all, "any of "+strings.Join(names, " or "))
		}
		if len(all) > 0 {
			line += " <- " + strings.Join(all, ", ")
		}
		if s.Items[i].Skip != "" {
			line += " [" + s.Items[i].Skip + "]"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestNew(t *testing.T) {
	t.Parallel()
	many := []string{"w1:web", "w2:web", "w3:web", "w4:web", "d1:db"}
	for name, test := range map[string]struct {
		tasks string
		nodes []string
		only  []string
		want  string
	}{
		"nothing":  {"[]", many, nil, ""},
		"no nodes": {"[{id: a, type: shell}, {id: s, type: stage, requires: [a]}]", nil, nil, "s"},
		"roles": {"[{id: a, type: shell, roles: [web, /d./]}, {id: b, type: shell, roles: db, requires: a}]", []string{"x:app", "d:db", "w:web"}, nil,
			"d/a\nw/a\nd/b <- d/a"},
		"few items of a join": {"[{id: a, type: shell}, {id: b, type: shell, cross_depends: [{name: a}, {name: a, policy: any, role: web}]}]", many[2:], []string{"w3", "w4"},
			"w3/a\nw4/a\nw3/b <- w3/a, w4/a, any of w3/a or w4/a\nw4/b <- w3/a, w4/a, any of w3/a or w4/a"},
		"many items of a join": {"[{id: a, type: shell}, {id: b, type: shell, roles: db, requires: a, cross_depends: [{name: a}, {name: a, policy: any, role: web}]}]", many, nil,
			"w1/a\nw2/a\nw3/a\nw4/a\nd1/a\nd1/b <- d1/a, a on 5 nodes, any of a on 4 nodes"},
		"stage": {"[{id: a, type: shell, required_for: s}, {id: s, type: stage}, {id: b, type: shell, requires: [s, s]}]", []string{"x", "y"}, nil,
			"x/a\ny/a\ns <- x/a, y/a\nx/b <- s\ny/b <- s"},
		"others count as done": {"[{id: a, type: shell, roles: db}, {id: b, type: shell, roles: web, cross_depends: [{name: a}]}]", many, []string{"w2"}, "w2/b"},
		"group": {"[{id: g, type: group, tasks: [a, b], requires: c}, {id: a, type: shell}, {id: b, type: shell}, {id: c, type: shell}, {id: d, type: shell, requires: g}]", []string{"n"}, nil,
			"n/g <- n/a, n/b, n/c\nn/a\nn/b\nn/c\nn/d <- n/g"},
		"skipped": {"[{id: a, type: skipped}, {id: b, type: shell, requires: a}]", []string{"n"}, nil, "n/a [skipped]\nn/b <- n/a"},
		"twice":   {"[{id: a, type: shell}]", many, []string{"w2", "w1", "w2"}, "w1/a\nw2/a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := input(t, test.tasks, test.nodes...)
			in.Only = test.only
			s := must.Get(schedule.New(in))(t)
			if diff := cmp.Diff(test.want, plan(s)); diff != "" {
				t.Errorf("New mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	const tasks = `
- {id: always, type: shell}
- {id: once, type: shell, reexecute_on: [], refresh_on: size}
- {id: event, type: shell, reexecute_on: [upgrade, repair]}
- {id: s, type: stage, reexecute_on: []}
`
	in := input(t, tasks, "n")
	size := "small"
	in.Refresh = func(paths []string, n *inventory.Node) string {
		return strings.Join(paths, " ") + " of " + n.Name + " is " + size
	}
	last := map[string]schedule.Last{}
	in.Last = func(task, node string) (schedule.Last, bool) {
		l, ok := last[node+" "+task]
		return l, ok
	}
	again := func() string {
		t.Helper()
		s := must.Get(schedule.New(in))(t)
		var names []string
		for _, item := range s.Items {
			if item.Skip == "" {
				names = append(names, item.Task.ID)
				continue
			}
			if item.Skip != schedule.Unchanged {
				t.Errorf("skip reason of %s = %s, want %s", item.Name(), item.Skip, schedule.Unchanged)
			}
		}
		return strings.Join(names, " ")
	}
	succeed := func() {
		s := must.Get(schedule.New(in))(t)
		for _, item := range s.Items {
			node := ""
			if item.Node != nil {
				node = item.Node.Name
			}
			last[node+" "+item.Task.ID] = schedule.Last{Succeeded: true, Digest: item.Digest, Refresh: item.Refresh}
		}
	}
	expect := func(what, want string) {
		t.Helper()
		if got := again(); got != want {
			t.Errorf("%s: tasks to run = %q, want %q", what, got, want)
		}
	}
	expect("without history", "always once event s")
	succeed()
	expect("afterward", "always")
	in.Event = "repair"
	expect("another event", "event")
	in.Event = "none"
	expect("an event of no task", "")
	in.All = true
	expect("everything", "always once event s")
	in.All = false
	size = "large"
	expect("another value", "once")
	succeed()
	expect("the value has been seen", "")
	in.Nodes[0].Name = "m"
	expect("another node", "always once event")
	in.Nodes[0].Name = "n"
	in.Digests = schedule.Digests([]taskgraph.Task{{ID: "event"}, {ID: "s"}})
	expect("other contents", "always once event s")
	last["n always"] = schedule.Last{Digest: in.Digests["always"]}
	succeed()
	last["n once"] = schedule.Last{Digest: last["n once"].Digest, Refresh: last["n once"].Refresh}
	expect("a failure", "once")
	in.Last = nil
	expect("no history", "always once event s")
}

func TestConditions(t *testing.T) {
	t.Parallel()
	in := input(t, `
- {id: a, type: shell, condition: $.node.name = w1}
- {id: b, type: shell, requires: a}
- {id: s, type: stage, condition: $.type = none}
- {id: no, type: skipped, condition: $.none}
`, "w1", "w2")
	d := inventory.Data{Type: "default", Inventory: &inventory.Inventory{Nodes: in.Nodes}}
	in.Condition = func(x string, n *inventory.Node) (bool, error) { return d.Condition(t.Context(), x, n) }
	s := must.Get(schedule.New(in))(t)
	want := "w1/a\nw2/a [condition]\nw1/b <- w1/a\nw2/b <- w2/a\ns [condition]\nw1/no [skipped]\nw2/no [skipped]"
	if diff := cmp.Diff(want, plan(s)); diff != "" {
		t.Errorf("New mismatch (-want +got):\n%s", diff)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		tasks string
		only  []string
		want  string
	}{
		"nodes":               {"[]", []string{"w1", "web", "w33", "nothing"}, "no node web in the inventory\nno node w33 in the inventory\nno node nothing in the inventory"},
		"a node that is near": {"[]", []string{"database-2"}, "no node database-2 in the inventory; did you mean database-1?"},
		"cycle": {
			"[{id: a, type: shell, requires: b}, {id: b, type: shell, cross_depends: [{name: c, role: db}]}, {id: c, type: shell, requires: s}, {id: s, type: stage, requires: a}]", nil,
			"task a: cycle: w1/a requires w1/b, w1/b cross_depends on database-1/c, database-1/c requires s, s requires w1/a",
		},
		"strategies": {
			"[{id: g, type: group, tasks: [a, b], parameters: {strategy: {type: one_by_one}}}, {id: a, type: shell}, {id: b, type: shell, cross_depends: [{name: a}]}, " +
				"{id: h, type: group, roles: web, tasks: [a, b], parameters: {strategy: {amount: 99%}}}]", nil,
			"task g: parameters.strategy: at most 1 of its nodes may run at once, but tasks of w1, w2 and database-1 wait for each other\n" +
				"task h: parameters.strategy: at most 1 of its nodes may run at once, but tasks of w1 and w2 wait for each other",
		},
		"conditions": {
			"[{id: a, type: shell, condition: $.a}, {id: b, type: shell, roles: db, condition: $.b}, {id: s, type: stage, condition: $.s}, {id: v, type: shell, condition: $.node.x = 1}]", nil,
			"task a: condition on w1 and 2 more: $.a is wrong\ntask b: condition on database-1: $.b is wrong\ntask s: condition: $.s is wrong\n" +
				"task v: condition on w1: w1 has no x\ntask v: condition on w2: w2 has no x\ntask v: condition on database-1: database-1 has no x",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := input(t, test.tasks, "w1:web", "w2:web", "database-1:db")
			in.Only = test.only
			in.Condition = func(x string, n *inventory.Node) (bool, error) {
				if strings.HasPrefix(x, "$.node.") {
					return false, fmt.Errorf("%s has no x", n.Name)
				}
				return false, errors.New(x + " is wrong")
			}
			_, err := schedule.New(in)
			var wrong *taskgraph.Error
			if !errors.As(err, &wrong) {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, err.Error()); diff != "" {
				t.Errorf("New mismatch (-want +got):\n%s", diff)
			}
			_, again := schedule.Restore(in, schedule.Decisions{})
			isAlike := test.only != nil || name == "strategies"
			if isAlike && (again == nil || again.Error() != err.Error()) || !isAlike && again != nil {
				t.Errorf("Restore = %v, want an error only for unknown nodes and strategies", again) // only New checks cycles and conditions
			}
		})
	}
}

func TestRestore(t *testing.T) {
	t.Parallel()
	in := input(t, "[{id: a, type: shell, condition: $.a}, {id: b, type: shell, requires: a, refresh_on: size}, {id: s, type: stage, requires: b}]", "w1", "w2", "w3")
	in.Only = []string{"w3", "w1"}
	in.Condition = func(_ string, n *inventory.Node) (bool, error) { return n.Name == "w1", nil }
	in.Refresh = func(_ []string, n *inventory.Node) string { return "size of " + n.Name }
	want := must.Get(schedule.New(in))(t)
	text := must.Get(json.Marshal(want.Decisions()))(t)
	if want := `{"Skip":{"w3/a":"condition"},"Refresh":{"w1/b":"size of w1","w3/b":"size of w3"}}`; string(text) != want {
		t.Errorf("stored decisions = %s, want %s", text, want)
	}
	var stored schedule.Decisions
	must.Do(t, json.Unmarshal(text, &stored))
	got := must.Get(schedule.Restore(schedule.Input{Tasks: in.Tasks, Digests: in.Digests, Nodes: in.Nodes, Only: in.Only}, stored))(t)
	if !slices.EqualFunc(got.Items, want.Items, func(a, b schedule.Item) bool {
		return a.Name() == b.Name() && a.Task == b.Task && a.Skip == b.Skip && a.Refresh == b.Refresh && a.Digest == b.Digest && a.Digest != ""
	}) || plan(got) != plan(want) {
		t.Errorf("Restore = %v, want %v", got.Items, want.Items)
	}
}

func TestDigest(t *testing.T) {
	t.Parallel()
	digest := func(text string) string {
		var task taskgraph.Task
		must.Do(t, json.Unmarshal([]byte(text), &task))
		return schedule.Digest(task)
	}
	want := digest(`{"id": "a", "type": "shell", "parameters": {"cmd": "x", "n": 1.0}, "x": 1, "y": 2}`)
	if got := digest(`{"y": 2, "x": 1, "parameters": {"n": 1.0, "cmd": "x"}, "type": "shell", "id": "a"}`); got != want || len(got) != 24 {
		t.Errorf("Digest = %s, want %s", got, want)
	}
	if got := digest(`{"id": "a", "type": "shell", "parameters": {"cmd": "y", "n": 1.0}, "x": 1, "y": 2}`); got == want {
		t.Errorf("Digest = %s for different commands", got)
	}
}

func TestTags(t *testing.T) {
	t.Parallel()
	in := input(t, "- {id: a, tags: [ssd, db]}\n- {id: b, roles: ssd}\n- {id: c, cross_depends: [{name: a}], role: web}", "n1:db", "n2:web", "n3:web")
	in.Nodes[2].Tags = []string{"ssd"}
	expect.Equal(t, "n1/a\nn3/a\nn2/c <- n1/a, n3/a\nn3/c <- n1/a, n3/a", plan(must.Get(schedule.New(in))(t)))
}
