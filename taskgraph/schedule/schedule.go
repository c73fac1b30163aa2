// Package schedule expands a task graph on nodes. It determines where and in which order tasks run, and which of them
// are skipped. It has no side effects.
package schedule

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/internal/dag"
	"github.com/lumi-idl/lumi/internal/suggest"
	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/taskgraph/inventory"
)

// Input is the input of [New].
type Input struct {
	// Tasks lists the specs returned by [taskgraph.Check].
	Tasks []*taskgraph.Spec
	// Digests contains the digest of each task by ID; see [Digests].
	Digests map[string]string
	Nodes   []inventory.Node
	// Only lists the nodes to run on. If it is empty, the run includes all nodes. Dependencies on tasks on other nodes
	// count as satisfied.
	Only []string
	// Choice limits the run to some tasks.
	Choice Choice
	// Event is the event of the run, such as "deploy_changes".
	Event string
	// Last returns the last outcome of a task on a node, which is "" for a stage, and whether there is one. It is nil
	// if there is no history.
	Last func(task, node string) (Last, bool)
	// Condition evaluates a condition. Refresh returns the digest of the values at the given paths and URNs. For a
	// stage, node is nil.
	Condition func(expression string, node *inventory.Node) (bool, error)
	Refresh   func(paths []string, node *inventory.Node) string
	// Evaluate evaluates an expression. Check returns the problems with the parameters of a task, given the values of
	// its expressions.
	Evaluate func(expression string, node *inventory.Node) (any, error)
	Check    func(*taskgraph.Spec) []string
	// All includes tasks that have not changed since they last succeeded.
	All bool
}

// Last is the outcome of the last run of a task on a node.
type Last struct {
	Succeeded bool
	// Digest identifies the content of the task. Refresh identifies the values that it depended on.
	Digest, Refresh string
}

// Reasons for skipping an item.
const (
	ByCondition = "condition" // condition is false
	ByChoice    = "choice"    // not chosen; such items are not recorded or shown
	Unchanged   = "unchanged" // succeeded on the node, and nothing has changed since
	ByType      = taskgraph.SkippedType
)

// Schedule lists the task runs of a run and their dependencies.
type Schedule struct {
	// Items are ordered by task and then by node.
	Items []Item
	// Graph has an edge from each item to each of its dependencies. Vertices from len(Items) on are joins, which have
	// edges to items and may be shared by several items.
	Graph dag.Graph
	// Any is the set of joins that require only one of their items.
	Any map[int32]bool
	// Limits contains the maximum number of concurrent items of tasks with a strategy. Windows lists the groups with a
	// strategy or a fault tolerance.
	Limits  map[*taskgraph.Spec]int
	Windows []Window
	// Units lists the units of places. Unit contains the unit of each vertex, or -1; it is nil if there are no units.
	Units []Unit
	Unit  []int32

	nearest map[int32][]int32 // results of chosen
}

// Item is a task on a node, or a stage.
type Item struct {
	Task *taskgraph.Spec
	// Node is nil for a stage.
	Node *inventory.Node
	// Skip is the reason for skipping the item, or "". Dependents of a skipped item still run.
	Skip string
	// Holds is the value of the task's condition. It is nil if there is no condition.
	Holds *bool
	// Values contains the attributes with the values of their expressions, and Evaluated is Task with these values. Both
	// are nil if there are no expressions.
	Values    map[string]any
	Evaluated *taskgraph.Spec
	// Digest and Refresh are stored for use as [Last] in a later run.
	Digest, Refresh string
}

// Name returns the display name of the item, such as "web-1/install".
func (i *Item) Name() string {
	if i.Node == nil {
		return i.Task.ID
	}
	return i.Node.Name + "/" + i.Task.ID
}

func (i *Item) nodeName() string {
	if i.Node == nil {
		return ""
	}
	return i.Node.Name
}

// Window limits the nodes of a group: its members run on Amount nodes at a time and may fail on Tolerance nodes.
type Window struct {
	Group *taskgraph.Spec
	// Amount is 0 if there is no limit, in particular if the group has no more nodes.
	Amount, Tolerance int
	Places            []Place
}

// Place is a node of a window.
type Place struct {
	Node *inventory.Node
	// Group is the item of the group. Members lists the items of its members that have something to do.
	Group   int32
	Members []int32
}

// Unit is a set of places that are in their windows at the same time, because they share tasks or because their tasks
// wait for each other. Only places of windows with an Amount are in units.
type Unit struct {
	// Slots lists the window of each place.
	Slots []int
}

// failure is a condition or an expression that cannot be evaluated, or an invalid value.
type failure struct{ task, path, message string }

// New returns a schedule. It returns a *[taskgraph.Error] with all unknown nodes, tasks, and tags, all cycles, all conditions and expressions
// that cannot be evaluated, or all strategies that are impossible, whichever are found first.
func New(in Input) (*Schedule, error) {
	s, err := expand(in, true)
	if err != nil {
		return nil, err
	}
	var failures []failure
	nodes := map[failure][]string{} // most expressions fail in the same way on many nodes
	for i := range s.Items {
		item := &s.Items[i]
		for _, f := range in.decide(item) {
			if nodes[f] == nil {
				failures = append(failures, f)
			}
			nodes[f] = append(nodes[f], item.nodeName())
		}
	}
	var wrong taskgraph.Error
	for _, f := range failures {
		where := ""
		if on := nodes[f]; len(on) > 1 {
			where = fmt.Sprintf(" on %s and %d more", on[0], len(on)-1)
		} else if on[0] != "" {
			where = " on " + on[0]
		}
		attribute, _, _ := strings.Cut(f.path, ".")
		wrong.Problems = append(wrong.Problems, taskgraph.Problem{
			Task: f.task, Attribute: attribute, Message: fmt.Sprintf("%s%s: %s", f.path, where, f.message),
		})
	}
	if len(failures) > 0 {
		return nil, &wrong
	}
	if err := s.limit(in.Tasks); err != nil {
		return nil, err
	}
	return s, nil
}

// Decisions contains what [New] has decided for the items of a schedule, by item name. It is stored with a run.
type Decisions struct {
	// Skip contains the reasons for skipping items, Refresh the digests of values, and Values the values of expressions.
	Skip, Refresh map[string]string         `json:",omitempty"`
	Values        map[string]map[string]any `json:",omitempty"`
}

// Restore rebuilds a schedule returned by [New] from its decisions. Only the fields Tasks, Digests, Nodes, Only, and
// Choice of in are used.
func Restore(in Input, d Decisions) (*Schedule, error) {
	s, err := expand(in, false) // New has already checked for cycles
	if err != nil {
		return nil, err
	}
	for i := 0; i < len(s.Items) && len(d.Skip)+len(d.Refresh)+len(d.Values) > 0; i++ {
		item := &s.Items[i]
		name := item.Name()
		item.Skip, item.Refresh = cmp.Or(item.Skip, d.Skip[name]), d.Refresh[name]
		if err := item.use(d.Values[name]); err != nil {
			return nil, err
		}
	}
	return s, s.limit(in.Tasks)
}

// Decisions returns the decisions for the items.
func (s *Schedule) Decisions() Decisions {
	d := Decisions{map[string]string{}, map[string]string{}, map[string]map[string]any{}}
	for i := range s.Items {
		item := &s.Items[i]
		if item.Skip != "" && item.Skip != ByChoice {
			d.Skip[item.Name()] = item.Skip
		}
		if item.Refresh != "" {
			d.Refresh[item.Name()] = item.Refresh
		}
		if item.Values != nil && item.Skip == "" {
			d.Values[item.Name()] = item.Values
		}
	}
	return d
}

// use sets the values of an item's expressions.
func (i *Item) use(values map[string]any) (err error) {
	if values == nil {
		return nil
	}
	i.Values = values
	if i.Evaluated, err = i.Task.With(values); err == nil {
		i.Digest = Digest(i.Evaluated.Source)
	}
	return err
}

// expand returns a schedule in which only items that are not chosen are skipped. If check is set, it returns an error if there are cycles.
func expand(in Input, check bool) (*Schedule, error) {
	nodes, problems := pick(in.Nodes, in.Only)
	labels := make([][]string, len(nodes))
	for i := range nodes {
		labels[i] = nodes[i].Labels()
	}
	x := taskgraph.Expand(in.Tasks, labels)
	s := &Schedule{Items: make([]Item, len(x.Vertices)), Graph: x.Graph, Any: x.Any}
	itemOf := func(v taskgraph.Vertex) Item {
		item := Item{Task: v.Task, Digest: in.Digests[v.Task.ID]}
		if v.Node >= 0 {
			item.Node = &nodes[v.Node]
		}
		return item
	}
	for i, v := range x.Vertices {
		s.Items[i] = itemOf(v)
	}
	rest, more := in.Choice.leaveOut(x, in.Tasks)
	if problems = append(problems, more...); problems != nil {
		return nil, &taskgraph.Error{Problems: problems}
	}
	for _, i := range rest {
		s.Items[i].Skip = ByChoice
	}
	if !check {
		return s, nil
	}
	cycles := x.Cycles(func(v taskgraph.Vertex) string {
		item := itemOf(v)
		return item.Name()
	})
	if cycles != nil {
		return nil, &taskgraph.Error{Problems: cycles}
	}
	return s, nil
}

// pick returns the named nodes, or all nodes if only is empty. It returns a problem for each unknown name.
func pick(nodes []inventory.Node, only []string) (picked []inventory.Node, problems []taskgraph.Problem) {
	if len(only) == 0 {
		return nodes, nil
	}
	var names []string
	for _, n := range nodes {
		names = append(names, n.Name)
		if slices.Contains(only, n.Name) {
			picked = append(picked, n)
		}
	}
	for _, name := range only {
		if !slices.Contains(names, name) {
			message := fmt.Sprintf("no node %s in the inventory%s", name, suggest.DidYouMean(name, names))
			if name == "" {
				message = "empty node name"
			}
			problems = append(problems, taskgraph.Problem{Message: message})
		}
	}
	return picked, problems
}

// decide sets the skip reason of an item, the values of its expressions, and the digest of the values it depends on.
func (in *Input) decide(item *Item) (failures []failure) {
	t := item.Task
	if item.Skip != "" {
		return nil
	}
	if len(t.RefreshOn) > 0 {
		item.Refresh = in.Refresh(t.RefreshOn, item.Node)
	}
	if t.Type == taskgraph.SkippedType {
		item.Skip = ByType
		return nil
	}
	if t.Condition != "" {
		holds, err := in.Condition(t.Condition, item.Node)
		if err != nil {
			return []failure{{t.ID, "condition", err.Error()}}
		}
		if item.Holds = &holds; !holds {
			item.Skip = ByCondition
			return nil
		}
	}
	if failures := in.evaluate(item); failures != nil {
		return failures
	}
	if in.Last == nil || in.All || slices.Contains(t.ReexecuteOn, in.Event) {
		return nil
	}
	last, found := in.Last(t.ID, item.nodeName())
	if found && last.Succeeded && last.Digest == item.Digest && last.Refresh == item.Refresh {
		item.Skip = Unchanged
	}
	return nil
}

// evaluate sets the values of an item's expressions and checks them.
func (in *Input) evaluate(item *Item) (failures []failure) {
	t, path := item.Task, ""
	values, err := t.Values(func(at, text string) (any, error) {
		path = at
		v, err := in.Evaluate(text, item.Node)
		if err != nil {
			failures = append(failures, failure{t.ID, path, err.Error()})
		}
		return v, nil
	})
	if err != nil {
		failures = append(failures, failure{t.ID, path, err.Error()})
	}
	if failures != nil || values == nil {
		return failures
	}
	var wrong *taskgraph.Error
	if errors.As(item.use(values), &wrong) {
		for _, p := range wrong.Problems {
			failures = append(failures, failure{t.ID, p.Attribute, p.Message})
		}
		return failures
	}
	for _, message := range in.Check(item.Evaluated) {
		failures = append(failures, failure{t.ID, "parameters", message})
	}
	return failures
}
