package taskgraph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/internal/dag"
)

// Expansion is the expansion of a task graph on nodes.
type Expansion struct {
	Vertices []Vertex
	// Graph has an edge from each vertex to each of its dependencies. Vertices from len(Vertices) on are joins, which
	// keep the number of edges linear. A join has at least one dependency. It waits for all its dependencies or, if it
	// is in Any, for the first one that succeeds or whose failure is tolerated.
	Graph dag.Graph
	Any   map[int32]bool
	// why lists the dependency that caused each edge of Graph. It covers only the edges that start at tasks.
	why []*dependency
}

// Vertex is a task on a node, or a stage.
type Vertex struct {
	Task *Spec
	// Node is the index of a node, or -1 for a stage.
	Node int
}

// dependency is a dependency on another task: on all nodes with Role or, if Any is set, on the first of these nodes
// where the task succeeds or its failure is tolerated. If Self is set, it is on the same node, or on all nodes if one of the tasks is a stage.
type dependency struct {
	link
	to int // index of the spec
	// only selects the dependent nodes.
	only Selector
	// join is the vertex that joins all nodes, or -1. It is nil until it is computed.
	join *int32
}

// Expand expands the specs returned by [Check]. nodes lists the roles of each node. Vertices are ordered by spec and
// then by node. Dependencies on tasks without vertices count as satisfied.
func Expand(specs []*Spec, nodes [][]string) *Expansion {
	x := &Expansion{Any: map[int32]bool{}}
	first := make([]int32, len(specs)) // vertex of each stage
	at := make([][]int32, len(specs))  // vertices of other tasks on each node, or -1
	for i, s := range specs {
		if s.Type == StageType {
			first[i] = int32(len(x.Vertices))
			x.Vertices = append(x.Vertices, Vertex{s, -1})
			continue
		}
		at[i] = make([]int32, len(nodes))
		for n, roles := range nodes {
			at[i][n] = -1
			if s.Roles.Match(roles) {
				at[i][n] = int32(len(x.Vertices))
				x.Vertices = append(x.Vertices, Vertex{s, n})
			}
		}
	}
	type join struct {
		to   int
		role string
		any  bool
	}
	joins := map[join]*int32{}
	var targets [][]int32
	joinOf := func(d *dependency) int32 {
		key := join{d.to, strings.Join(d.Role.Strings(), "\n"), d.Any}
		if d.join = joins[key]; d.join != nil {
			return *d.join
		}
		v := int32(-1)
		var to []int32
		for n, at := range at[d.to] {
			if at >= 0 && d.Role.Match(nodes[n]) {
				to = append(to, at)
			}
		}
		if len(to) > 0 {
			v = int32(len(x.Vertices) + len(targets))
			targets = append(targets, to)
			if d.Any {
				x.Any[v] = true
			}
		}
		d.join, joins[key] = &v, &v
		return v
	}
	task, next := dependencies(specs), 0
	for i := range specs {
		for ; next < len(x.Vertices) && x.Vertices[next].Task == specs[i]; next++ {
			n := x.Vertices[next].Node
			for _, d := range task[i] {
				var to int32
				switch {
				case n >= 0 && !d.only.Match(nodes[n]):
					continue
				case at[d.to] == nil:
					to = first[d.to]
				case d.join != nil:
					to = *d.join
				case !d.Self || n < 0:
					to = joinOf(d)
				default:
					to = at[d.to][n]
				}
				if to >= 0 {
					x.Graph.To, x.why = append(x.Graph.To, to), append(x.why, d)
				}
			}
			x.Graph.End()
		}
	}
	for _, to := range targets {
		x.Graph.To = append(x.Graph.To, to...)
		x.Graph.End()
	}
	return x
}

// link is a reference to another task in an attribute of a task.
type link struct {
	attribute string
	// text describes the dependency, with a %s for each vertex. isBack is set if the other task is the dependent.
	text   string
	isBack bool
	Cross
}

func (s *Spec) links() (all []link) {
	add := func(attribute, text string, isBack bool, names []string, crosses []Cross) {
		for _, name := range names {
			all = append(all, link{attribute, text, isBack, Cross{Name: name, Self: true, Role: everywhere}})
		}
		for _, c := range crosses {
			if c.Self {
				c.Role = everywhere
			}
			all = append(all, link{attribute, text, isBack, c})
		}
	}
	add("tasks", "%s waits for its member %s", false, s.Tasks, nil)
	add("requires", "%s requires %s", false, s.Requires, nil)
	add("required_for", "%[1]s waits for %[2]s (required_for of %[2]s)", true, s.RequiredFor, nil)
	add("cross_depends", "%s cross_depends on %s", false, nil, s.CrossDepends)
	add("cross_depended_by", "%[1]s waits for %[2]s (cross_depended_by of %[2]s)", true, nil, s.CrossDependedBy)
	return all
}

func dependencies(specs []*Spec) [][]*dependency {
	index := map[string]int{}
	for i, s := range specs {
		index[s.ID] = i
	}
	all := make([][]*dependency, len(specs))
	for i, s := range specs {
		for _, l := range s.links() {
			other, found := index[l.Name]
			d := &dependency{link: l, to: other, only: everywhere}
			switch {
			case !found:
			case l.isBack:
				d.to, d.only, d.Role = i, d.Role, everywhere
				all[other] = append(all[other], d)
			default:
				all[i] = append(all[i], d)
			}
		}
	}
	return all
}

const (
	// maxSearches limits the number of vertices from which a shorter cycle is searched.
	maxSearches = 200
	// maxSteps limits the number of steps of a cycle shown in a message.
	maxSteps = 20
)

// Cycles returns a problem for each strongly connected component that contains a cycle. The problem shows one of the
// shortest cycles; name formats its vertices. Cycles with equal messages are reported only once.
func (x *Expansion) Cycles(name func(Vertex) string) []Problem {
	component := x.Graph.Components()
	best, searches := map[int32][]int32{}, 0
	var found []int32 // components
	for v := range int32(len(x.Vertices)) {
		c := component[v]
		if best[c] != nil && searches >= maxSearches {
			continue
		}
		cycle := x.Graph.Cycle(v, component)
		if cycle == nil {
			continue
		}
		searches++
		if best[c] == nil {
			found = append(found, c)
		}
		if best[c] == nil || len(cycle) < len(best[c]) {
			best[c] = cycle
		}
	}
	var problems []Problem
	known := map[Problem]bool{}
	for _, c := range found {
		cycle := best[c]
		var parts []string
		var d *dependency
		from := x.Vertices[x.Graph.To[cycle[len(cycle)-1]]]
		p := Problem{Task: from.Task.ID}
		for _, edge := range cycle {
			if int(edge) < len(x.why) { // other edges start at joins
				d = x.why[edge]
			}
			if to := x.Graph.To[edge]; int(to) < len(x.Vertices) {
				parts = append(parts, fmt.Sprintf(d.text, name(from), name(x.Vertices[to])))
				from = x.Vertices[to]
			}
		}
		if len(parts) > maxSteps {
			parts = slices.Replace(parts, maxSteps-1, len(parts)-1, fmt.Sprintf("(%d more)", len(parts)-maxSteps))
		}
		p.Message = "cycle: " + strings.Join(parts, ", ")
		if !known[p] {
			known[p], problems = true, append(problems, p)
		}
	}
	return problems
}
