// Package schedule expands a task graph on nodes: which task runs where, what waits for what, and what is skipped. It is pure.
package schedule

import (
	"fmt"
	"slices"

	"github.com/lumi-idl/lumi/internal/dag"
	"github.com/lumi-idl/lumi/internal/suggest"
	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/taskgraph/inventory"
)

// Input is the input of [New].
type Input struct {
	// Tasks are specs that [taskgraph.Check] returned.
	Tasks []*taskgraph.Spec
	// Digests identify the contents of the tasks, by ID: see [Digests].
	Digests map[string]string
	Nodes   []inventory.Node
	// Only has the names of the nodes to run on; none are all. Dependencies on tasks of other nodes are met.
	Only []string
	// Event is the event of the run, such as "deploy_changes".
	Event string
	// Last returns how a task ended on a node the last time. It is nil if there is no history. The node of a stage is "".
	Last func(task, node string) (Last, bool)
	// Condition evaluates a condition for a node, Refresh returns the digest of the values that paths and URNs stand for. The
	// node of a stage is nil.
	Condition func(expression string, node *inventory.Node) (bool, error)
	Refresh   func(paths []string, node *inventory.Node) string
	// All is set to run unchanged tasks, too.
	All bool
}

// Last is the last task run of a task on a node.
type Last struct {
	Succeeded bool
	// Digest identifies the content that the task had, and Refresh the values that it depended on.
	Digest, Refresh string
}

// Reasons to skip an item.
const (
	ByCondition = "condition" // The condition is false.
	Unchanged   = "unchanged" // The task has succeeded on the node, and nothing has changed since.
	ByType      = taskgraph.SkippedType
)

// Schedule has the task runs of a run and their order.
type Schedule struct {
	// Items are in the order of the tasks, those of a task in the order of the nodes.
	Items []Item
	// Graph leads from each item to those that it waits for. Vertices from len(Items) on are joins, which lead to items and on
	// which any number of items depends.
	Graph dag.Graph
	// Any has the joins for which the first item that is done is enough.
	Any map[int32]bool
}

// Item is a task on a node.
type Item struct {
	Task *taskgraph.Spec
	// Node is nil for a stage.
	Node *inventory.Node
	// Skip is why there is nothing to do, or "". Dependents go on.
	Skip string
	// Digest and Refresh are those of [Last] in a later run.
	Digest, Refresh string
}

// Name returns what users call the item, such as "web-1/install".
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

// New returns a schedule. The error is a *[taskgraph.Error] with all unknown nodes, or all cycles, or all conditions that cannot
// be evaluated.
func New(in Input) (*Schedule, error) {
	s, err := expand(in, true)
	if err != nil {
		return nil, err
	}
	type failure struct{ task, message string }
	var failures []failure
	nodes := map[failure][]string{} // Most conditions fail on many nodes in the same way.
	for i := range s.Items {
		item := &s.Items[i]
		if err := in.decide(item); err != nil {
			f := failure{item.Task.ID, err.Error()}
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
		wrong.Problems = append(wrong.Problems, taskgraph.Problem{
			Task: f.task, Attribute: "condition", Message: fmt.Sprintf("condition%s: %s", where, f.message),
		})
	}
	if len(failures) > 0 {
		return nil, &wrong
	}
	return s, nil
}

// Restore returns the schedule that New returned for an input, with the decisions that it took then: see [Schedule.Decisions].
// It needs the tasks, their digests, the nodes and Only.
func Restore(in Input, skip, refresh map[string]string) (*Schedule, error) {
	s, err := expand(in, false) // Cycles were found by New.
	if err != nil || len(skip)+len(refresh) == 0 {
		return s, err
	}
	for i := range s.Items {
		name := s.Items[i].Name()
		s.Items[i].Skip, s.Items[i].Refresh = skip[name], refresh[name]
	}
	return s, nil
}

// Decisions returns the reasons to skip items, and the digests of values, by the names of the items that have one.
func (s *Schedule) Decisions() (skip, refresh map[string]string) {
	skip, refresh = map[string]string{}, map[string]string{}
	for i := range s.Items {
		item := &s.Items[i]
		if item.Skip != "" {
			skip[item.Name()] = item.Skip
		}
		if item.Refresh != "" {
			refresh[item.Name()] = item.Refresh
		}
	}
	return skip, refresh
}

// expand returns a schedule in which nothing is skipped, and looks for cycles if check is set.
func expand(in Input, check bool) (*Schedule, error) {
	nodes, err := pick(in.Nodes, in.Only)
	if err != nil {
		return nil, err
	}
	roles := make([][]string, len(nodes))
	for i := range nodes {
		roles[i] = nodes[i].Roles
	}
	x := taskgraph.Expand(in.Tasks, roles)
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

// pick returns the nodes with some names, or all if there are none.
func pick(nodes []inventory.Node, only []string) ([]inventory.Node, error) {
	if len(only) == 0 {
		return nodes, nil
	}
	var names []string
	var picked []inventory.Node
	for _, n := range nodes {
		names = append(names, n.Name)
		if slices.Contains(only, n.Name) {
			picked = append(picked, n)
		}
	}
	var wrong taskgraph.Error
	for _, name := range only {
		if !slices.Contains(names, name) {
			message := fmt.Sprintf("no node %s in the inventory%s", name, suggest.DidYouMean(name, names))
			wrong.Problems = append(wrong.Problems, taskgraph.Problem{Message: message})
		}
	}
	if len(wrong.Problems) > 0 {
		return nil, &wrong
	}
	return picked, nil
}

// decide sets whether an item is skipped, and the digest of the values that it depends on.
func (in *Input) decide(item *Item) error {
	t := item.Task
	if len(t.RefreshOn) > 0 {
		item.Refresh = in.Refresh(t.RefreshOn, item.Node)
	}
	if t.Type == taskgraph.SkippedType {
		item.Skip = ByType
		return nil
	}
	if t.Condition != "" {
		if ok, err := in.Condition(t.Condition, item.Node); err != nil || !ok {
			item.Skip = ByCondition
			return err
		}
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
