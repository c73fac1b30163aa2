package schedule

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/internal/suggest"
	"github.com/lumi-idl/lumi/taskgraph"
)

// Choice limits a run to some tasks. The zero Choice includes all tasks. Its patterns are the names or tags of tasks,
// /regex/, or "*". A group includes its members on the node.
type Choice struct {
	Tasks []string `json:"tasks,omitempty" minItems:"1" doc:"Run only the tasks with these names, and what they depend on: names, /regex/, or *."`
	Tags  []string `json:"tags,omitempty" minItems:"1" doc:"Also run the tasks with these tags."`
	Skip  []string `json:"skip,omitempty" minItems:"1" doc:"Leave out the tasks with these names or tags."`
	Only  bool     `json:"only,omitempty" doc:"Leave out what the tasks depend on. Requires tasks or tags."`
}

// IsAll reports whether the choice includes all tasks.
func (c *Choice) IsAll() bool { return len(c.Tasks)+len(c.Tags)+len(c.Skip) == 0 }

// leaveOut returns the vertices that are not chosen, and a problem for each pattern that matches no task.
func (c *Choice) leaveOut(x *taskgraph.Expansion, tasks []*taskgraph.Spec) (rest []int, problems []taskgraph.Problem) {
	named, skipped, problems := c.match(tasks)
	if c.IsAll() || len(problems) > 0 {
		return nil, problems
	}
	specs, at := map[string]*taskgraph.Spec{}, map[taskgraph.Vertex]int{}
	for _, t := range tasks {
		specs[t.ID] = t
	}
	for i, v := range x.Vertices {
		at[v] = i
	}
	groups := map[*taskgraph.Spec][]*taskgraph.Spec{}
	for _, g := range tasks {
		for _, t := range members(g, specs) {
			groups[t] = append(groups[t], g)
		}
	}
	// includes reports whether a set contains the task of a vertex or one of its groups on the node.
	includes := func(set map[*taskgraph.Spec]bool, v taskgraph.Vertex) bool {
		return set[v.Task] || slices.ContainsFunc(groups[v.Task], func(g *taskgraph.Spec) bool {
			_, is := at[taskgraph.Vertex{Task: g, Node: v.Node}]
			return set[g] && (is || v.Node < 0)
		})
	}
	var open []int32
	kept, out := make([]bool, x.Graph.Len()), make([]bool, x.Graph.Len())
	for i, v := range x.Vertices {
		if out[i] = includes(skipped, v); includes(named, v) {
			open = append(open, int32(i))
		}
	}
	for len(open) > 0 {
		v := open[len(open)-1]
		if open = open[:len(open)-1]; kept[v] || out[v] {
			continue
		}
		if kept[v] = true; !c.Only {
			open = append(open, x.Graph.Out(v)...)
		}
	}
	limits := map[int]bool{} // groups of chosen members
	for i, v := range x.Vertices {
		for _, g := range groups[v.Task] {
			if group, is := at[taskgraph.Vertex{Task: g, Node: v.Node}]; is && kept[i] && isWindow(g) {
				limits[group] = true
			}
		}
	}
	for i := range x.Vertices {
		if !kept[i] && !limits[i] {
			rest = append(rest, i)
		}
	}
	return rest, nil
}

// match returns the tasks with the names and tags, or all tasks if there are none, and the tasks to skip.
func (c *Choice) match(tasks []*taskgraph.Spec) (named, skipped map[*taskgraph.Spec]bool, problems []taskgraph.Problem) {
	add := func(to map[*taskgraph.Spec]bool, kind string, patterns []string, labels func(*taskgraph.Spec) []string) {
		for _, text := range patterns {
			pattern, err := taskgraph.NewSelector(text)
			found := false
			var names []string
			for _, t := range tasks {
				all := labels(t)
				names = append(names, all...)
				if len(all) > 0 && pattern.Match(all) {
					to[t], found = true, true
				}
			}
			message := fmt.Sprintf("no task has the %s %s%s", kind, text, suggest.DidYouMean(text, names))
			switch {
			case err != nil:
				message = err.Error()
			case found:
				continue
			case text == "":
				message = "empty task " + kind
			case strings.HasPrefix(text, "/"):
				message = fmt.Sprintf("no task has a %s that matches %s as a whole", kind, text)
			}
			problems = append(problems, taskgraph.Problem{Message: message})
		}
	}
	name := func(t *taskgraph.Spec) []string { return []string{t.ID} }
	tags := func(t *taskgraph.Spec) []string { return t.Roles.Tags() }
	named, skipped = map[*taskgraph.Spec]bool{}, map[*taskgraph.Spec]bool{}
	add(named, "name", c.Tasks, name)
	add(named, "tag", c.Tags, tags)
	add(skipped, "name or tag", c.Skip, func(t *taskgraph.Spec) []string { return append(name(t), tags(t)...) })
	if len(c.Tasks)+len(c.Tags) == 0 {
		for _, t := range tasks {
			named[t] = true
		}
		if c.Only {
			problems = append(problems, taskgraph.Problem{Message: "only requires tasks or tags"})
		}
	}
	return named, skipped, problems
}
