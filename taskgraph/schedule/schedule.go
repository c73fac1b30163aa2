// Package schedule expands a task graph on nodes: which task runs where, what waits for what, and what is skipped. It is pure.
package schedule

import (
	"github.com/lumi-idl/lumi/internal/dag"
	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/taskgraph/inventory"
)

// Input is what a schedule follows from.
type Input struct {
	Tasks []*taskgraph.Spec
	// Digests identify the contents of the tasks, by ID.
	Digests map[string]string
	Nodes   []inventory.Node
	// Only has the names of the nodes to run on; nil is all. Dependencies on tasks of other nodes are met.
	Only []string
	// Event is the event of the run, such as "deploy_changes".
	Event string
	// Last returns how a task ended on a node the last time: the digest of its content and that of the values it depends on.
	Last func(task, node string) (Last, bool)
	// Condition evaluates a condition for a node, Refresh returns the digest of the values that paths and URNs stand for.
	Condition func(expression string, node *inventory.Node) (bool, error)
	Refresh   func(paths []string, node *inventory.Node) (string, error)
	// All is set to run tasks that have nothing to do, too.
	All bool
}

// Last is the last task run of a task on a node.
type Last struct {
	Succeeded       bool
	Digest, Refresh string
}

// DefaultEvent is the event of runs where none is given.
const DefaultEvent = "deploy_changes"

// Schedule has the task runs of a run and their order.
type Schedule struct {
	Items []Item
	// Graph leads from each item to those that it waits for. Vertices from len(Items) on are joins, of which many depend on many.
	Graph dag.Graph
	// Any has the joins for which the first item that is done is enough.
	Any map[int32]bool
}

// Item is a task on a node.
type Item struct {
	Task *taskgraph.Spec
	// Node is nil for a stage.
	Node *inventory.Node
	// Skip says why there is nothing to do: "condition", "unchanged", "skipped", or it is empty. Dependents go on.
	Skip            string
	Digest, Refresh string
}

// Name returns what people call the item, such as "web-1/install".
func (i *Item) Name() string {
	if i.Node == nil {
		return i.Task.ID
	}
	return i.Node.Name + "/" + i.Task.ID
}

// New returns a schedule. The error is a *[taskgraph.Error].
func New(in Input) (*Schedule, error) {
	s := &Schedule{Any: map[int32]bool{}}
	at := map[[2]string]int32{}
	for n := range in.Nodes {
		for _, t := range in.Tasks {
			if t.Roles.Match(in.Nodes[n].Roles) {
				at[[2]string{t.ID, in.Nodes[n].Name}] = int32(len(s.Items))
				s.Items = append(s.Items, Item{Task: t, Node: &in.Nodes[n], Digest: in.Digests[t.ID]})
			}
		}
	}
	s.Graph = dag.New(len(s.Items), func(yield func(int32, int32) bool) {
		for i, item := range s.Items {
			for _, name := range item.Task.Requires {
				if to, ok := at[[2]string{name, item.Node.Name}]; ok && !yield(int32(i), to) {
					return
				}
			}
		}
	})
	return s, nil
}
