package schedule

import (
	"fmt"
	"strings"

	"github.com/lumi-idl/lumi/internal/dag"
	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/taskgraph/inventory"
)

// limit sets the limits, the windows, and the units. It returns a *[taskgraph.Error] if tasks that wait for each other
// do not fit into a window.
func (s *Schedule) limit(tasks []*taskgraph.Spec) error {
	items, specs := map[string][]int32{}, map[string]*taskgraph.Spec{}
	for i := range s.Items {
		t := s.Items[i].Task
		items[t.ID], specs[t.ID] = append(items[t.ID], int32(i)), t
	}
	s.Limits = map[*taskgraph.Spec]int{}
	for _, t := range tasks {
		amount, total := 0, len(items[t.ID])
		if (t.Strategy != taskgraph.Share{}) {
			amount = max(t.Strategy.Of(total), 1)
		}
		switch {
		case isWindow(t):
			w := Window{Group: t, Amount: amount, Places: s.places(t, specs, items)}
			if t.FaultTolerance != nil {
				w.Tolerance = t.FaultTolerance.Of(total)
			}
			if len(w.Places) <= amount {
				w.Amount = 0
			}
			if len(w.Places) > 0 { // otherwise, the choice of tasks or nodes may exclude the group
				s.Windows = append(s.Windows, w)
			}
		case amount > 0:
			s.Limits[t] = amount
		}
	}
	if wrong := s.unite(); wrong != nil {
		return &taskgraph.Error{Problems: wrong}
	}
	return nil
}

// places returns the nodes on which members of a group have something to do, including members of its groups.
func (s *Schedule) places(group *taskgraph.Spec, specs map[string]*taskgraph.Spec, items map[string][]int32) (all []Place) {
	at := map[*inventory.Node]*Place{}
	for _, i := range items[group.ID] {
		if skip := s.Items[i].Skip; skip == "" || skip == Unchanged {
			at[s.Items[i].Node] = &Place{Node: s.Items[i].Node, Group: i}
		}
	}
	for _, t := range members(group, specs) {
		for _, i := range items[t.ID] {
			if p := at[s.Items[i].Node]; p != nil && s.Items[i].Works() {
				p.Members = append(p.Members, i)
			}
		}
	}
	for _, i := range items[group.ID] {
		if p := at[s.Items[i].Node]; p != nil && len(p.Members) > 0 {
			all = append(all, *p)
		}
	}
	return all
}

// Works reports whether the item has something to do.
func (i *Item) Works() bool {
	switch i.Task.Type {
	case taskgraph.StageType, taskgraph.GroupType, taskgraph.AnchorType, taskgraph.SkippedType:
		return false
	}
	return i.Skip == ""
}

// unite sets the units: the strongly connected components of the graph in which the members of each place depend on
// each other. Since units cannot wait for each other in a cycle, a window never blocks forever.
func (s *Schedule) unite() (wrong []taskgraph.Problem) {
	type room struct{ window, place int }
	var rooms []room
	of := map[int32][]int32{} // vertices of the rooms of each item
	n := s.Graph.Len()
	for w := range s.Windows {
		for p := range s.Windows[w].Places {
			if s.Windows[w].Amount == 0 {
				break
			}
			for _, i := range s.Windows[w].Places[p].Members {
				of[i] = append(of[i], int32(n+len(rooms)))
			}
			rooms = append(rooms, room{w, p})
		}
	}
	if len(rooms) == 0 {
		return nil
	}
	var g dag.Graph
	for v := range int32(n) {
		g.To = append(append(g.To, s.Graph.Out(v)...), of[v]...)
		g.End()
	}
	for _, r := range rooms {
		g.To = append(g.To, s.Windows[r.window].Places[r.place].Members...)
		g.End()
	}
	component, units := g.Components(), map[int32]int32{}
	together := map[[2]int][]string{} // names of nodes by unit and window
	var order [][2]int
	for i, r := range rooms {
		c := component[n+i]
		if _, found := units[c]; !found {
			units[c], s.Units = int32(len(s.Units)), append(s.Units, Unit{})
		}
		u := units[c]
		s.Units[u].Slots = append(s.Units[u].Slots, r.window)
		key := [2]int{r.window, int(u)}
		if together[key] == nil {
			order = append(order, key)
		}
		together[key] = append(together[key], s.Windows[r.window].Places[r.place].Node.Name)
	}
	s.Unit = make([]int32, n)
	for v := range s.Unit {
		s.Unit[v] = -1
		if u, found := units[component[v]]; found {
			s.Unit[v] = u
		}
	}
	for _, key := range order {
		if w, names := s.Windows[key[0]], together[key]; len(names) > w.Amount {
			wrong = append(wrong, taskgraph.Problem{Task: w.Group.ID, Attribute: "parameters", Message: fmt.Sprintf(
				"parameters.strategy: at most %d of its nodes may run at once, but tasks of %s wait for each other", w.Amount, list(names))})
		}
	}
	return wrong
}

func list(names []string) string {
	if len(names) > maxNamed {
		names = append(names[:maxNamed:maxNamed], fmt.Sprintf("%d more", len(names)-maxNamed))
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}
