package schedule_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/taskgraph/schedule"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// chosen returns the plan of the chosen items.
func chosen(s *schedule.Schedule) string {
	lines := strings.Split(plan(s), "\n")
	return strings.Join(slices.DeleteFunc(lines, func(line string) bool { return strings.HasSuffix(line, "["+schedule.ByChoice+"]") }), "\n")
}

func TestChoice(t *testing.T) {
	t.Parallel()
	const chain = `[{id: a, type: shell}, {id: b, type: shell, roles: db, requires: a}, {id: c, type: shell, roles: web, cross_depends: [{name: b}]},
		{id: d, type: shell, tags: ssd, requires: [a, c]}, {id: e, type: shell, tags: [/ss.*/], condition: $.never.evaluated}]`
	const groups = `[{id: g, type: group, roles: web, tasks: [h, m], fault_tolerance: 1}, {id: h, type: group, tasks: [n]},
		{id: m, type: shell}, {id: n, type: shell, requires: p}, {id: p, type: shell}]`
	const twice = `[{id: g, type: group, roles: web, tasks: [m, n]}, {id: m, type: shell}, {id: n, type: shell, requires: m}]`
	for name, test := range map[string]struct {
		tasks  string
		choice schedule.Choice
		want   string
	}{
		"with dependencies":     {chain, schedule.Choice{Tasks: []string{"c"}}, "db/a\ndb/b <- db/a\nweb/c <- db/b"},
		"only":                  {chain, schedule.Choice{Tasks: []string{"c"}, Only: true}, "web/c"},
		"order of others":       {chain, schedule.Choice{Tasks: []string{"a", "d"}, Only: true}, "db/a\nweb/a\nweb/d <- web/a, db/a"},
		"pattern":               {chain, schedule.Choice{Tasks: []string{"/[ab]/"}, Only: true}, "db/a\nweb/a\ndb/b <- db/a"},
		"any":                   {chain, schedule.Choice{Tasks: []string{"*"}, Skip: []string{"e", "d"}}, "db/a\nweb/a\ndb/b <- db/a\nweb/c <- db/b"},
		"tag":                   {chain, schedule.Choice{Tags: []string{"ssd"}, Only: true}, "web/d"},
		"any tag":               {chain, schedule.Choice{Tags: []string{"*"}, Skip: []string{"e"}, Only: true}, "web/d"},
		"tags and tasks":        {chain, schedule.Choice{Tags: []string{"ssd"}, Tasks: []string{"b"}, Only: true}, "db/b\nweb/d <- db/b"},
		"skip":                  {chain, schedule.Choice{Skip: []string{"a", "ssd", "e"}}, "db/b\nweb/c <- db/b"},
		"skip a dependency":     {chain, schedule.Choice{Tasks: []string{"c"}, Skip: []string{"b"}}, "web/c"},
		"skip what is chosen":   {chain, schedule.Choice{Tasks: []string{"c"}, Skip: []string{"c"}}, ""},
		"members":               {groups, schedule.Choice{Tasks: []string{"g"}, Only: true}, "web/g <- web/h, web/m\nweb/h <- web/n\nweb/m\nweb/n"},
		"members on other node": {groups, schedule.Choice{Tasks: []string{"h"}, Only: true}, "web/g <- web/h\ndb/h <- db/n\nweb/h <- web/n\ndb/n\nweb/n"},
		"limits of groups":      {groups, schedule.Choice{Tasks: []string{"n"}, Only: true}, "web/g <- web/n\ndb/n\nweb/n"},
		"skip a member":         {twice, schedule.Choice{Skip: []string{"n"}}, "web/g <- web/m\ndb/m\nweb/m"},
		"skip a group":          {groups, schedule.Choice{Skip: []string{"g", "h"}}, "db/m\ndb/p\nweb/p"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := input(t, test.tasks, "db:db", "web:web")
			in.Nodes[1].Tags = []string{"ssd"}
			in.Choice = test.choice
			s := must.Get(schedule.New(in))(t)
			expect.Equal(t, test.want, chosen(s))
			restored := must.Get(schedule.Restore(in, s.Decisions()))(t)
			expect.Equal(t, plan(s), plan(restored), "restored")
			if d := s.Decisions(); len(d.Skip) > 0 {
				t.Errorf("decisions = %v, want the choice alone", d)
			}
		})
	}
}

func TestChoiceErrors(t *testing.T) {
	t.Parallel()
	in := input(t, "[{id: install, type: shell, tags: ssd}]", "web:web")
	in.Only = []string{"wbe", ""}
	in.Choice = schedule.Choice{Tasks: []string{"instal", "install", "/in/", "/a"}, Tags: []string{"sdd", ""}, Skip: []string{"instal", "*"}}
	_, err := schedule.New(in)
	expect.Equal(t, `no node wbe in the inventory; did you mean web?
empty node name
no task has the name instal; did you mean install?
no task has a name that matches /in/ as a whole
missing / at the end of the regular expression /a
no task has the tag sdd; did you mean ssd?
empty task tag
no task has the name or tag instal; did you mean install?`, fmt.Sprint(err))
	in.Only, in.Choice = nil, schedule.Choice{Only: true}
	_, err = schedule.New(in)
	expect.Equal(t, "only requires tasks or tags", fmt.Sprint(err))
}

// contains reports whether a task of set is the given task, or a group that contains it and runs on the node.
func (r *reference) contains(set []string, id, node string) bool {
	for _, name := range set {
		isHere := node == "" || slices.Contains(r.items(r.spec(name), everywhere), node+"/"+name)
		if name == id || isHere && r.isMember(id, name) {
			return true
		}
	}
	return false
}

func (r *reference) isMember(id, group string) bool {
	s := r.spec(group)
	return s != nil && slices.ContainsFunc(s.Tasks, func(member string) bool { return member == id || r.isMember(id, member) })
}

// TestChoiceReference checks the chosen items against the documentation, applied to all items literally.
func TestChoiceReference(t *testing.T) {
	t.Parallel()
	some := 0
	rapid.Check(t, func(t *rapid.T) {
		in := randomInput(t)
		r := &reference{in.Tasks, in.Nodes}
		waits := r.expand()
		if hasCycle(waits) {
			t.Skip()
		}
		task := rapid.Map(rapid.IntRange(0, len(in.Tasks)-1), func(i int) string { return in.Tasks[i].ID })
		in.Choice = schedule.Choice{
			Tasks: rapid.SliceOfNDistinct(task, 0, 2, rapid.ID[string]).Draw(t, "choice"), Skip: rapid.SliceOfNDistinct(task, 0, 2, rapid.ID[string]).Draw(t, "skip"),
		}
		in.Choice.Only = len(in.Choice.Tasks) > 0 && rapid.Bool().Draw(t, "only")
		for _, s := range in.Tasks {
			if s.Type == taskgraph.GroupType && rapid.Bool().Draw(t, "limit") {
				s.FaultTolerance = &taskgraph.Share{Number: 1}
			}
		}
		want := map[string]bool{}
		var visit func(name string)
		visit = func(name string) {
			node, id, found := strings.Cut(name, "/")
			if !found {
				node, id = "", name
			}
			if want[name] || r.contains(in.Choice.Skip, id, node) {
				return
			}
			want[name] = true
			for _, wait := range waits[name] {
				for _, to := range names(wait) {
					if !in.Choice.Only {
						visit(to)
					}
				}
			}
		}
		s, err := schedule.New(in)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range s.Items {
			node, _, found := strings.Cut(item.Name(), "/")
			if !found {
				node = ""
			}
			if len(in.Choice.Tasks) == 0 || r.contains(in.Choice.Tasks, item.Task.ID, node) {
				visit(item.Name())
			}
		}
		for _, name := range slices.Collect(maps.Keys(want)) {
			node, id, found := strings.Cut(name, "/")
			for _, group := range in.Tasks {
				if found && group.FaultTolerance != nil && r.isMember(id, group.ID) && slices.Contains(r.items(group, everywhere), node+"/"+group.ID) {
					want[node+"/"+group.ID] = true
				}
			}
		}
		got := map[string]bool{}
		for _, item := range s.Items {
			if item.Skip != schedule.ByChoice {
				got[item.Name()] = true
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("chosen items mismatch (-want +got):\n%s", diff)
		}
		if len(got) > 0 && len(got) < len(s.Items) {
			some++
		}
	})
	if some == 0 {
		t.Error("no choice left a part of the items, want several")
	}
}
