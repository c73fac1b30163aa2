package taskgraph_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// Tasks contain only canonical names. Synonyms and their positions are kept for the check of files.
func TestSynonyms(t *testing.T) {
	t.Parallel()
	g := must.Get(taskgraph.Parse([]byte(`
- &a {id: a, role: [x, /y.*/], tags: z, required-for: b, re_execute_on: [e], other-thing: 1}
- {<<: *a, id: b, cross-depends: [{name: a, role: self}], required-for: []}
- {id: c, "cross-depended-by": [{name: a}], role: '*'}
`), "f"))(t)
	const want = `tasks:
  - id: a
    roles: [x, /y.*/]
    tags: z
    required_for: b
    reexecute_on: [e]
    other-thing: 1
  - id: b
    roles: [x, /y.*/]
    tags: z
    required_for: []
    cross_depends:
      - {name: a, role: self}
    reexecute_on: [e]
    other-thing: 1
  - id: c
    roles: '*'
    cross_depended_by:
      - {name: a}
`
	expect.Equal(t, want, string(must.Get(taskgraph.Format(g))(t)))
	e := &taskgraph.Error{File: "f"}
	for _, s := range g.Synonyms {
		e.Problems = append(e.Problems, s.Problem())
	}
	lines := strings.Split(message(e), "\n")
	expect.Equal(t, "f:2:14: task a: role is a synonym; use roles", lines[0])
	expect.Equal(t, "f:4:45: task c: role is a synonym; use roles", lines[len(lines)-1])
}

// Problems found after merging are located at the attribute in its original spelling.
func TestLocateSynonym(t *testing.T) {
	t.Parallel()
	g := must.Get(taskgraph.Parse([]byte("- id: a\n  required-for: [b]\n  type: anchor\n"), "f"))(t)
	_, err := taskgraph.Check(taskgraph.Merge([]taskgraph.Layer{{Tasks: g.Tasks}}, false), types)
	wrong, ok := errors.AsType[*taskgraph.Error](err)
	if !ok {
		t.Fatalf("Check = %v, want an unknown task", err)
	}
	expect.Equal(t, "f:2:17: task a: required_for: unknown task b", message(&taskgraph.Error{File: "f", Problems: g.Locate(wrong.Problems)}))
}

func TestMisspelled(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"rol": "roles", "roels": "roles", "Roles": "roles", "r-oles": "roles", "tag": "tags", "task": "tasks", "types": "type", "group": "groups",
		"require": "requires", "requirse": "requires", "requires_": "requires", "cross-depend": "cross_depends", "crossdepends": "cross_depends",
		"re-execute-one": "reexecute_on", "refresh-on": "refresh_on", "fail-on-error": "fail_on_error", "test-pre": "test_pre",
		"ip": "", "uid": "", "stage": "", "owner": "", "reqirs": "", "roleplay": "",
	} {
		_, err := taskgraph.Parse(fmt.Appendf(nil, "- {id: a, %s: {}}", given), "f")
		text := ""
		if want != "" {
			text = fmt.Sprintf("f:1:11: task a: unknown attribute %q; did you mean %s?", given, want)
		}
		expect.Equal(t, text, message(err), given)
	}
}

// A task runs on the nodes with one of its roles, and on those with one of its tags. Roles are tags, but not vice versa.
func TestTags(t *testing.T) {
	t.Parallel()
	nodes := [][]string{{"db"}, {"web", taskgraph.Tag("db")}, {taskgraph.Tag("cache-1")}, nil}
	for given, want := range map[string]string{
		"roles: db": "0", "tags: db": "0 1", "tags: [db, /cache-./]": "0 1 2", "roles: web, tags: cache-1": "1 2", "groups: db, tags: x": "0",
		"tags: []": "", "roles: /.*/": "0 1", "tags: /.*/": "0 1 2", "tags: '*'": "0 1 2 3", "tags: null": "0 1 2 3", "roles: '#db'": "",
	} {
		g := must.Get(taskgraph.Parse(fmt.Appendf(nil, "- {id: a, %s}", given), "f"))(t)
		var got []string
		for i, labels := range nodes {
			if must.Get(g.Tasks[0].Spec())(t).Roles.Match(labels) {
				got = append(got, fmt.Sprint(i))
			}
		}
		if !slices.Equal(strings.Fields(want), got) {
			t.Errorf("%s selects nodes %v, want %s", given, got, want)
		}
	}
}
