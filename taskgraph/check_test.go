package taskgraph_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// types declares the task types used in the tests.
func types(name string) (func(map[string]any) []string, bool) {
	check := func(parameters map[string]any) []string {
		if name == "shell" && parameters["cmd"] == nil {
			return []string{"parameters.cmd is missing", "and more"}
		}
		return nil
	}
	return check, slices.Contains([]string{"shell", "stage", "group", "anchor", "skipped"}, name)
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, release, cluster, want string }{
		{name: "valid", release: "- {id: a, type: shell, parameters: {cmd: x}, requires: b}", cluster: "- {id: b, type: anchor}"},
		{
			name:    "types",
			release: "- {id: a, type: shel}\n- {id: b, type: shell}\n- {id: c, type: terraform}\n- {id: d, type: anchor, tasks: [a], fault_tolerance: 1}",
			cluster: "- {id: b, parameters: {n: 1}}\n- {id: a, x: 1}\n- {id: e}",
			want: "release: task a: unknown type \"shel\"; did you mean shell?\ncluster: task b: parameters.cmd is missing\n" +
				"cluster: task b: and more\nrelease: task c: unknown type \"terraform\"\n" +
				"release: task d: only a task of type group can have tasks\n" +
				"release: task d: only a task of type group can have fault_tolerance; other tasks have fail_on_error\ncluster: task e: missing type, such as shell",
		},
		{name: "skipped group", release: "- {id: g, type: group, tasks: a}\n- {id: a, type: anchor}", cluster: "- {id: g, type: skipped}"},
		{
			name:    "changed type",
			release: "- {id: a, type: anchor}\n- {id: g, type: group, tasks: a}\n- {id: s, type: skipped, parameters: {cmd: x}}",
			cluster: "- {id: a, type: shell}\n- {id: g, type: anchor}\n- {id: s, type: shell}",
			want:    "release: task a: parameters.cmd is missing\nrelease: task a: and more\nrelease: task g: only a task of type group can have tasks",
		},
		{
			name:    "unknown tasks",
			release: "- {id: install, type: anchor, requires: [instal, x], required_for: y}\n- {id: g, type: group, tasks: [installs]}",
			cluster: "- {id: a, type: anchor, cross_depends: [{name: b}], cross_depended_by: [{name: installl}]}",
			want: "release: task install: requires: unknown task instal; did you mean install?\n" +
				"release: task install: requires: unknown task x\nrelease: task install: required_for: unknown task y\n" +
				"release: task g: tasks: unknown task installs; did you mean install?\ncluster: task a: cross_depends: unknown task b\n" +
				"cluster: task a: cross_depended_by: unknown task installl; did you mean install?",
		},
		{
			name:    "unmatched expressions",
			release: "- {id: deploy_a, type: anchor, requires: [/deploy/, /deploy_.*/], cross_depends: [{name: '/b|deploy_b/'}]}",
			cluster: "- {id: deploy_b, type: anchor, required_for: /b/}",
			want: "release: task deploy_a: requires: the name of no other task matches /deploy/ as a whole; did you mean /deploy.*/?\n" +
				"cluster: task deploy_b: required_for: the name of no other task matches /b/ as a whole",
		},
		{
			name:    "cycle through an expression",
			release: "- {id: a, type: anchor, requires: /b.*/}\n- {id: b1, type: anchor, cross_depends: [{name: /a/}]}",
			want:    "release: task a: cycle: a requires b1, b1 cross_depends on a",
		},
		{
			name:    "cycles on a node",
			release: "- {id: a, type: anchor, roles: x, requires: [b, c]}\n- {id: b, type: anchor, requires: c}\n- {id: c, type: anchor}",
			cluster: "- {id: c, required_for: a, requires: a}\n- {id: d, type: anchor, requires: d}",
			want:    "release: task a: cycle: a requires c, c requires a\ncluster: task d: cycle: d requires d",
		},
		{
			name:    "shorter cycle",
			release: "- {id: a, type: anchor, requires: b}\n- {id: b, type: anchor, requires: [c, d]}\n- {id: c, type: anchor, requires: a}\n- {id: d, type: anchor, requires: b}",
			want:    "release: task b: cycle: b requires d, d requires b",
		},
		{
			name: "cycle across nodes",
			release: "- {id: a, type: anchor, roles: /x.*/, requires: b}\n- {id: b, type: anchor, cross_depends: [{name: c, role: y, policy: any}]}\n" +
				"- {id: c, type: anchor, roles: y, requires: d}\n- {id: d, type: anchor, roles: y, cross_depends: [{name: a, role: /x.*/}]}",
			want: "release: task a: cycle: a requires b, b cross_depends on c, c requires d, d cross_depends on a",
		},
		{
			name:    "cycle by a role that no task has",
			release: "- {id: a, type: anchor, cross_depends: [{name: b, role: x}]}\n- {id: b, type: anchor, requires: a}",
			want:    "release: task a: cycle: a cross_depends on b, b requires a",
		},
		{
			name: "tasks of different nodes",
			release: "- {id: a, type: anchor, roles: x, requires: b, cross_depends: [{name: b, role: self}]}\n" +
				"- {id: b, type: anchor, roles: y, requires: a, cross_depends: [{name: a, role: y}]}",
		},
		{
			name:    "cycle through a group, a stage and an anchor",
			release: "- {id: g, type: group, roles: x, tasks: m, required_for: s}\n- {id: m, type: anchor, requires: l}\n- {id: s, type: stage}\n- {id: l, type: anchor, roles: x, requires: s}",
			want:    "release: task g: cycle: g waits for its member m, m requires l, l requires s, s waits for g (required_for of g)",
		},
		{
			name:    "members that a group also requires",
			release: "- {id: g, type: group, roles: x, tasks: [m, n], requires: [m, o], cross_depends: [{name: n}]}\n- {id: m, type: anchor}\n- {id: n, type: anchor}\n- {id: o, type: anchor, roles: x, requires: n}",
		},
		{
			name:    "groups in groups",
			release: "- {id: g, type: group, tasks: h}\n- {id: h, type: group, tasks: [g, i]}\n- {id: i, type: anchor}",
			want:    "release: task g: cycle: g waits for its member h, h waits for its member g",
		},
		{
			name: "cross_depended_by", release: "- {id: a, type: anchor, cross_depended_by: [{name: b, role: x}], cross_depends: [{name: b}]}\n- {id: b, type: anchor, roles: x}",
			want: "release: task a: cycle: a cross_depends on b, b waits for a (cross_depended_by of a)",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			layers := []taskgraph.Layer{layer(t, "release", c.release)}
			if c.cluster != "" {
				layers = append(layers, layer(t, "cluster", c.cluster))
			}
			specs, err := taskgraph.Check(taskgraph.Merge(layers, false), types)
			if diff := cmp.Diff(c.want, message(err)); diff != "" || (specs == nil) != (err != nil) {
				t.Errorf("Check mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

// Tasks that were not parsed, such as tasks received through the API, are checked as well.
func TestCheckAttributes(t *testing.T) {
	t.Parallel()
	e := taskgraph.Merge([]taskgraph.Layer{{Name: "cluster x", Tasks: []taskgraph.Task{
		{ID: "a", Attributes: map[string]any{"requires": []any{"a b", "c"}, "type": "none", "idempotent": "no"}},
	}}}, false)
	_, err := taskgraph.Check(e, nil)
	const want = "cluster x: task a: requires[0]: invalid task name \"a b\"" + nameRule +
		"\ncluster x: task a: idempotent must be true or false\ncluster x: task a: requires: unknown task c"
	expect.Equal(t, want, message(err))
}

func TestInheritedRoles(t *testing.T) {
	t.Parallel()
	specs := must.Get(taskgraph.Check(taskgraph.Merge([]taskgraph.Layer{layer(t, "", `
- {id: outer, type: group, roles: [x], tasks: [inner, own]}
- {id: inner, type: group, tasks: [m]}
- {id: other, type: group, groups: /y/, tasks: [m]}
- {id: none, type: group, roles: [], tasks: [n]}
- {id: m, type: anchor}
- {id: n, type: anchor, roles: null}
- {id: own, type: anchor, roles: z}
- {id: alone, type: anchor}
`)}, false), types))(t)
	got := ""
	for _, s := range specs {
		got += fmt.Sprint(s.ID, s.Roles.Strings(), " ")
	}
	expect.Equal(t, "outer[x] inner[x] other[/y/] none[] m[x /y/] n[] own[z] alone[*] ", got)
}

// Regular expressions over names apply to the merged tasks, so that layers can add tasks.
func TestReferences(t *testing.T) {
	t.Parallel()
	layers := []taskgraph.Layer{layer(t, "release", `
- {id: a, type: anchor, requires: [/deploy_(x|yy)/, last], cross_depends: [{name: /.*_x/, role: db, policy: any}, {name: a1}]}
- {id: a1, type: anchor, required_for: /deploy_.+/, cross_depended_by: [{name: /last|none/, role: self}]}
- {id: deploy_x, type: anchor}
- {id: deploy_, type: anchor}
- {id: last, type: anchor}
`), layer(t, "plugin", "- {id: deploy_yy, type: anchor, requires: /deploy_.*/}")}
	specs := must.Get(taskgraph.Check(taskgraph.Merge(layers, false), types))(t)
	got := ""
	for _, s := range specs {
		got += fmt.Sprint(s.ID, s.Requires, s.RequiredFor)
		for _, c := range append(s.CrossDepends, s.CrossDependedBy...) {
			got += fmt.Sprint("; ", c.Name, c.Role.Strings(), c.Self, c.Any)
		}
		got += "\n"
	}
	const want = `a[deploy_x deploy_yy last] []; deploy_x[db] false true; a1[*] false false
a1[] [deploy_x deploy_yy]; last[self] true false
deploy_x[] []
deploy_[] []
last[] []
deploy_yy[deploy_x deploy_] []
`
	expect.Equal(t, want, got)
}

func TestReferencesLimit(t *testing.T) {
	t.Parallel()
	var tasks []taskgraph.Task
	for i := range 1100 {
		tasks = append(tasks, taskgraph.Task{ID: fmt.Sprint(i), Attributes: map[string]any{"type": "anchor", "requires": "/.*/"}})
	}
	_, err := taskgraph.Check(taskgraph.Merge([]taskgraph.Layer{{Tasks: tasks}}, false), types)
	expect.Equal(t, "too many tasks and regular expressions over their names; use names or fewer expressions", message(err))
}

func TestCheckLarge(t *testing.T) {
	t.Parallel()
	var tasks []taskgraph.Task
	for i := range 3000 {
		tasks = append(tasks, taskgraph.Task{ID: fmt.Sprint(i), Attributes: map[string]any{
			"type": "anchor", "roles": []any{fmt.Sprint("r", i), "*"}, "requires": fmt.Sprint((i + 1) % 3000),
		}})
	}
	_, err := taskgraph.Check(taskgraph.Merge([]taskgraph.Layer{{Tasks: tasks}}, false), types)
	if text := message(err); !strings.HasPrefix(text, "task 0: cycle: 0 requires 1, 1 requires 2, ") ||
		!strings.HasSuffix(text, ", 18 requires 19, (2980 more), 2999 requires 0") {
		t.Errorf("Check = %.1000s, want an abridged cycle", text)
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	g := must.Get(taskgraph.Parse([]byte(`
- {id: a, reqirs: b, owner: me, roles: y}
- {id: b, fail_on_anerror: false, cross_depends: [{name: a, pocliy_: any}, {name: a, role: x}], other: {polcy: any}}
- {id: c, test_pre: {cmd: x, tries: 3}, parameters: {cmds: x, strategy: {amuont_s: 2, type: parallel}}}
`), "f"))(t)
	got := message(&taskgraph.Error{File: "f", Problems: g.Warnings})
	const want = `f:2:11: task a: unknown attribute "reqirs", kept as is; did you mean requires?
f:3:11: task b: unknown attribute "fail_on_anerror", kept as is; did you mean fail_on_error?
f:3:61: task b: unknown attribute "cross_depends.pocliy_", kept as is
f:4:30: task c: unknown attribute "test_pre.tries", kept as is
f:4:74: task c: unknown attribute "parameters.strategy.amuont_s", kept as is`
	expect.Equal(t, want, got)
}

func TestSelector(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, roles string
		want           bool
	}{
		{"*", "", true}, {"web", "", false}, {"web", "db web", true}, {"web", "web-1", false}, {"/web/", "web-1", false}, {"/a|ab/", "ab", true},
		{"/web.*/", "db web-1", true}, {"/web.*/", "/web.*/", true}, {"/(?i)WEB/", "web", true}, {"//", "web", false},
	} {
		if got := selector(t, c.pattern).Match(strings.Fields(c.roles)); got != c.want {
			t.Errorf("Match of %s for roles %q = %t, want %t", c.pattern, c.roles, got, c.want)
		}
	}
	if (taskgraph.Selector{}).Match([]string{"web"}) {
		t.Error("Match of the zero Selector returned true, want false")
	}
	if _, err := taskgraph.NewSelector("a", "/a)(b/"); message(err) != "invalid regular expression: unexpected ): `a)(b`" {
		t.Errorf("NewSelector = %v, want an invalid regular expression", err)
	}
}
