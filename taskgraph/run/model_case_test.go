package run_test

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/taskgraph/schedule"
)

// modelCase is a graph together with the fates of the processes that run it.
type modelCase struct {
	Seed        uint64
	Tasks       []modelTask
	Nodes       []int // roles as bits
	Parallelism int
	PerRole     int // limit for role a, or 0
	StopOnError bool
	Faults      int // in percent
	// Chosen and Skipped are numbers of tasks. If Chosen is empty, all tasks are chosen.
	Chosen, Skipped []int
	Only            bool
	// Processes run the graph one after another. They are followed by processes that are not disturbed, until the run
	// is done.
	Processes []modelFate
}

// modelTask is a task. It may depend only on earlier tasks.
type modelTask struct {
	Type     int
	Roles    int
	After    []modelEdge
	Once     bool
	Tolerant bool
	Strategy int
	// MayFail determines the fault tolerance of a group: none, 1, or 50%.
	MayFail int
}

// modelEdge is a dependency through requires or cross_depends.
type modelEdge struct{ To, Kind int }

type modelFate struct {
	At   int // number of the point at which the process crashes, or 0
	Lost bool
	// Stop is the second at which the process is stopped. How determines by whom.
	Stop, How int
	Rival     bool // whether another process competes for the graph
}

func drawModelCase(t *rapid.T, salt uint32) modelCase {
	number := rapid.Uint16()
	below := func(t *rapid.T, n uint16, label string) int { // as in package deploy/run
		if u := number.Draw(t, label); u >= n {
			return int((uint32(u)*2654435761 + salt*2246822519) >> 8 % uint32(n)) //nolint:gosec // less than n
		} else {
			return int(u)
		}
	}
	edges := rapid.Custom(func(t *rapid.T) modelEdge { return modelEdge{below(t, 8, "to"), below(t, 7, "kind")} })
	tasks := rapid.Custom(func(t *rapid.T) modelTask {
		return modelTask{
			max(0, below(t, 12, "type")-7), below(t, 5, "roles"), rapid.SliceOfN(edges, 0, 3).Draw(t, "after"), below(t, 3, "once") == 2,
			below(t, 5, "tolerant") == 4, max(0, below(t, 6, "strategy")-3), below(t, 3, "mayfail"),
		}
	})
	fates := rapid.Custom(func(t *rapid.T) modelFate {
		return modelFate{below(t, 40, "at"), below(t, 2, "lost") == 1, below(t, 12, "stop"), below(t, 6, "how"), below(t, 4, "rival") == 3}
	})
	c := modelCase{
		uint64(number.Draw(t, "seed")), rapid.SliceOfN(tasks, 1, 8).Draw(t, "tasks"),
		rapid.SliceOfN(rapid.IntRange(0, 3), 1, 4).Draw(t, "nodes"), 1 + below(t, 5, "parallelism"), below(t, 3, "perrole"),
		below(t, 4, "stoponerror") == 3, []int{0, 20, 50}[below(t, 3, "faults")], nil, nil, false, rapid.SliceOfN(fates, 0, 5).Draw(t, "fates"),
	}
	if below(t, 3, "choice") == 2 {
		c.Chosen, c.Skipped = rapid.SliceOfN(rapid.IntRange(0, 9), 0, 3).Draw(t, "chosen"), rapid.SliceOfN(rapid.IntRange(0, 9), 0, 1).Draw(t, "skipped")
		c.Only = len(c.Chosen) > 0 && below(t, 2, "only") == 1
	}
	if below(t, 2, "windowed") == 1 {
		group := modelTask{Type: 2, Strategy: 1 + below(t, 2, "amount"), MayFail: below(t, 3, "mayfail")}
		for i := range c.Tasks {
			group.After = append(group.After, modelEdge{To: i})
			if c.Tasks[i].Type > 2 { // fewer tasks have nothing to do
				c.Tasks[i].Type = 0
			}
		}
		c.Tasks = append(c.Tasks, group)
	}
	return c
}

var modelTypes = []string{"shell", "stage", "group", "anchor", "skipped"}

// choice returns the choice of tasks.
func (c *modelCase) choice() schedule.Choice {
	names := func(numbers []int) (all []string) {
		for _, n := range numbers {
			all = append(all, fmt.Sprint("t", n%len(c.Tasks)))
		}
		return all
	}
	return schedule.Choice{Tasks: names(c.Chosen), Skip: names(c.Skipped), Only: c.Only}
}

// yaml returns the tasks as YAML.
func (c *modelCase) yaml() string {
	var b strings.Builder
	for i, t := range c.Tasks {
		typ := modelTypes[t.Type]
		fmt.Fprintf(&b, "- id: t%d\n  type: %s\n", i, typ)
		if typ != "stage" {
			fmt.Fprintf(&b, "  roles: [%s]\n", []string{"'*'", "'*'", "a", "b", "'/[ab]/'"}[t.Roles])
		}
		var requires, cross, members []string
		for _, e := range t.After {
			if i == 0 {
				continue
			}
			to := fmt.Sprint("t", e.To%i)
			switch {
			case typ == "group" && modelTypes[c.Tasks[e.To%i].Type] != "stage":
				members = append(members, to)
			case typ == "stage" || e.Kind < 3:
				requires = append(requires, to)
			default:
				more := []string{"", ", policy: any", ", role: a, policy: any", ", role: [a, b]"}[e.Kind-3]
				cross = append(cross, fmt.Sprintf("{name: %s%s}", to, more))
			}
		}
		for name, list := range map[string][]string{"requires": requires, "cross_depends": cross, "tasks": members} {
			slices.Sort(list)
			if list = slices.Compact(list); len(list) > 0 {
				fmt.Fprintf(&b, "  %s: [%s]\n", name, strings.Join(list, ", "))
			}
		}
		if typ == "group" {
			if t.Strategy > 0 {
				fmt.Fprintf(&b, "  parameters: {strategy: %s}\n", []string{"{type: one_by_one}", "{amount: 2}"}[t.Strategy-1])
			}
			if t.MayFail > 0 {
				fmt.Fprintf(&b, "  fault_tolerance: %s\n", []string{"1", "50%"}[t.MayFail-1])
			}
		}
		if typ == "shell" {
			fmt.Fprintf(&b, "  idempotent: %t\n  fail_on_error: %t\n  parameters: {cmd: x", !t.Once, !t.Tolerant)
			if t.Strategy > 0 {
				fmt.Fprintf(&b, ", strategy: {type: parallel, amount: %d}", t.Strategy)
			}
			fmt.Fprintln(&b, "}")
		}
	}
	return b.String()
}
