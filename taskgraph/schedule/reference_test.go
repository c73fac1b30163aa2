package schedule_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/taskgraph/inventory"
	"github.com/lumi-idl/lumi/taskgraph/schedule"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// relation is a declared dependency of one task on another.
type relation struct {
	to           string
	cross, isAny bool
	role         taskgraph.Selector
	// only selects the nodes of the dependent.
	only taskgraph.Selector
}

// reference expands a graph literally as docs/tasks.md specifies, over all pairs of items.
type reference struct {
	specs []*taskgraph.Spec
	nodes []inventory.Node
}

var everywhere, _ = taskgraph.NewSelector("*")

func (r *reference) spec(id string) *taskgraph.Spec {
	i := slices.IndexFunc(r.specs, func(s *taskgraph.Spec) bool { return s.ID == id })
	if i < 0 {
		return nil
	}
	return r.specs[i]
}

// relations returns the declared dependencies of a task: its own, and dependencies declared by other tasks.
func (r *reference) relations(t *taskgraph.Spec) (all []relation) {
	for _, id := range t.Requires {
		all = append(all, relation{to: id, only: everywhere})
	}
	for _, c := range t.CrossDepends {
		all = append(all, relation{to: c.Name, cross: !c.Self, isAny: c.Any, role: c.Role, only: everywhere})
	}
	for _, s := range r.specs {
		if slices.Contains(s.RequiredFor, t.ID) {
			all = append(all, relation{to: s.ID, only: everywhere})
		}
		for _, c := range s.CrossDependedBy {
			if c.Name == t.ID && c.Self {
				all = append(all, relation{to: s.ID, isAny: c.Any, only: everywhere})
			} else if c.Name == t.ID {
				all = append(all, relation{to: s.ID, cross: true, isAny: c.Any, role: everywhere, only: c.Role})
			}
		}
	}
	return all
}

// items returns the names of a task's items on the nodes that role selects.
func (r *reference) items(t *taskgraph.Spec, role taskgraph.Selector) (names []string) {
	if t == nil {
		return nil
	}
	if t.Type == taskgraph.StageType {
		return []string{t.ID}
	}
	for _, n := range r.nodes {
		if t.Roles.Match(n.Roles) && role.Match(n.Roles) {
			names = append(names, n.Name+"/"+t.ID)
		}
	}
	return names
}

// expand returns the dependencies of each item, sorted: names and sets of alternatives.
func (r *reference) expand() map[string][]string {
	found := map[string][]string{}
	add := func(name string, waits map[string]bool) { found[name] = slices.Sorted(maps.Keys(waits)) }
	for _, t := range r.specs {
		if t.Type == taskgraph.StageType {
			waits := map[string]bool{}
			for _, d := range r.relations(t) {
				role := everywhere
				if d.cross {
					role = d.role
				}
				to := r.spec(d.to)
				collect(waits, r.items(to, role), d.isAny && to != nil && to.Type != taskgraph.StageType)
			}
			add(t.ID, waits)
			continue
		}
		for _, n := range r.nodes {
			if !t.Roles.Match(n.Roles) {
				continue
			}
			waits := map[string]bool{}
			here := func(id string) {
				for _, name := range r.items(r.spec(id), everywhere) {
					if name == id || name == n.Name+"/"+id {
						waits[name] = true
					}
				}
			}
			for _, d := range r.relations(t) {
				to := r.spec(d.to)
				switch {
				case !d.only.Match(n.Roles):
				case d.cross:
					collect(waits, r.items(to, d.role), d.isAny && to != nil && to.Type != taskgraph.StageType)
				default:
					here(d.to)
				}
			}
			for _, member := range t.Tasks {
				here(member)
			}
			add(n.Name+"/"+t.ID, waits)
		}
	}
	return found
}

func collect(waits map[string]bool, names []string, isAny bool) {
	if isAny && len(names) > 0 {
		waits["any("+strings.Join(names, " ")+")"] = true
		return
	}
	for _, name := range names {
		waits[name] = true
	}
}

// waits returns the dependencies of each item of a schedule in the same form as the reference.
func waits(s *schedule.Schedule) map[string][]string {
	found := map[string][]string{}
	for i := range s.Items {
		set := map[string]bool{}
		for _, to := range s.Graph.Out(int32(i)) {
			if int(to) < len(s.Items) {
				set[s.Items[to].Name()] = true
				continue
			}
			var names []string
			for _, member := range s.Graph.Out(to) {
				names = append(names, s.Items[member].Name())
			}
			collect(set, names, s.Any[to])
		}
		found[s.Items[i].Name()] = slices.Sorted(maps.Keys(set))
	}
	return found
}

// randomInput generates a graph. It often has a cycle if wild is set, and rarely otherwise.
func randomInput(t *rapid.T) schedule.Input {
	var in schedule.Input
	wild := rapid.IntRange(0, 3).Draw(t, "wild") == 0
	for i := range rapid.IntRange(0, 4).Draw(t, "nodes") {
		roles := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b"}), 0, 2, rapid.ID[string]).Draw(t, "roles")
		in.Nodes = append(in.Nodes, inventory.Node{Name: fmt.Sprintf("n%d", i), Roles: roles})
	}
	count := rapid.IntRange(1, 7).Draw(t, "tasks")
	selector := func() taskgraph.Selector {
		return must.Get(taskgraph.NewSelector(rapid.SampledFrom([][]string{{"*"}, {"a"}, {"/b|c/"}, {"a", "b"}, {"none"}}).Draw(t, "role")...))(t)
	}
	// names returns up to two tasks. Tasks before the ith are allowed, but tasks after it only if it is a group.
	names := func(from, to int) []string {
		if from >= to {
			return nil
		}
		name := rapid.Map(rapid.IntRange(from, to-1), func(i int) string { return fmt.Sprintf("t%d", i) })
		return rapid.SliceOfNDistinct(name, 0, min(2, to-from), rapid.ID[string]).Draw(t, "names")
	}
	cross := func(names []string) (all []taskgraph.Cross) {
		for _, name := range names {
			c := taskgraph.Cross{Name: name, Role: selector(), Any: rapid.Bool().Draw(t, "any")}
			if rapid.IntRange(0, 4).Draw(t, "self") == 0 {
				c.Self, c.Role = true, taskgraph.Selector{}
			}
			all = append(all, c)
		}
		return all
	}
	for i := range count {
		s := &taskgraph.Spec{ID: fmt.Sprintf("t%d", i), Roles: selector()}
		s.Type = rapid.SampledFrom([]string{"shell", "shell", taskgraph.GroupType, taskgraph.StageType}).Draw(t, "type")
		end := i
		if wild {
			end = count
		}
		s.Requires, s.CrossDepends = names(0, end), cross(names(0, end))
		s.RequiredFor, s.CrossDependedBy = names(i+1, count), cross(names(i+1, count))
		if s.Type == taskgraph.GroupType {
			s.Tasks = names(i+1, count)
		}
		in.Tasks = append(in.Tasks, s)
	}
	return in
}

func TestReference(t *testing.T) {
	t.Parallel()
	cyclic, acyclic := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		in := randomInput(t)
		want := (&reference{in.Tasks, in.Nodes}).expand()
		s, err := schedule.New(in)
		if hasCycle(want) {
			cyclic++
			var wrong *taskgraph.Error
			if !errors.As(err, &wrong) || !strings.HasPrefix(wrong.Problems[0].Message, "cycle: ") {
				t.Fatalf("New = %v, want a cycle in %v", err, want)
			}
			return
		}
		acyclic++
		if err != nil {
			t.Fatalf("New = %v, want %v", err, want)
		}
		if diff := cmp.Diff(want, waits(s)); diff != "" {
			t.Fatalf("dependencies mismatch (-want +got):\n%s", diff)
		}
		walk(t, s)
	})
	if cyclic == 0 || acyclic == 0 {
		t.Errorf("%d graphs have cycles and %d have none, want more of each", cyclic, acyclic)
	}
}

// names returns the names of the items in a dependency.
func names(wait string) []string {
	return strings.Fields(strings.TrimSuffix(strings.TrimPrefix(wait, "any("), ")"))
}

func hasCycle(waits map[string][]string) bool {
	for done := map[string]bool{}; len(done) < len(waits); {
		before := len(done)
		for name, all := range waits {
			if !slices.ContainsFunc(all, func(wait string) bool {
				return slices.ContainsFunc(names(wait), func(name string) bool { return !done[name] })
			}) {
				done[name] = true
			}
		}
		if len(done) == before {
			return true
		}
	}
	return false
}

// walk checks that each vertex of a schedule can be visited once after its dependencies.
func walk(t *rapid.T, s *schedule.Schedule) {
	preferred := make([]int32, s.Graph.Len())
	for i := range preferred {
		preferred[i] = int32(i)
	}
	done := map[int32]bool{}
	for _, v := range s.Graph.Sort(preferred) {
		for _, to := range s.Graph.Out(v) {
			if !done[to] {
				t.Fatalf("vertex %d precedes its dependency %d", v, to)
			}
		}
		done[v] = true
	}
	if len(done) != s.Graph.Len() {
		t.Fatalf("%d of %d vertices were visited, want all", len(done), s.Graph.Len())
	}
}
