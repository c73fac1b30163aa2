// Package service has the operations on task graphs: those of the commands and of the server.
package service

import (
	"context"
	"time"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/taskgraph"
)

// API is what commands do: in the workspace's store, as [Service], or on a server, as package server/client.
//
// Errors are a *[taskgraph.Error] for graphs that are wrong and an *[Error] for everything else that a user can do something about.
type API interface {
	// AddRelease adds a release or a plugin; the error is a Conflict if it exists. DeleteRelease deletes one with its graphs; it is
	// a Conflict if an environment uses it.
	AddRelease(ctx context.Context, r Release) (Release, error)
	Releases(ctx context.Context, layer store.Layer) ([]Release, error)
	DeleteRelease(ctx context.Context, layer store.Layer, id int64) error
	// Use selects the layers of an environment. Effective graphs that would be wrong refuse it.
	Use(ctx context.Context, s Selection) (Selection, error)
	Selection(ctx context.Context, environment string) (Selection, error)

	// Graphs returns the graphs of an owner, or all if owner is nil, without tasks.
	Graphs(ctx context.Context, owner *store.Owner) ([]Graph, error)
	// Graph and Find return a graph with its tasks, by ID and by owner and type.
	Graph(ctx context.Context, id int64) (Graph, error)
	Find(ctx context.Context, owner store.Owner, graphType string) (Graph, error)
	// Create adds a graph; the error is a Conflict if the owner has one of the type. Update replaces the name, unless it is nil,
	// and the tasks, unless they are nil: unchanged tasks keep their IDs.
	Create(ctx context.Context, owner store.Owner, g taskgraph.Graph) (Graph, error)
	Update(ctx context.Context, id int64, name *string, tasks []taskgraph.Task) (Graph, error)
	Delete(ctx context.Context, id int64) error
	// UpdateTask replaces a task, which gets another ID if its content changes. DeleteTask deletes one.
	UpdateTask(ctx context.Context, graph, id int64, t taskgraph.Task) (Task, error)
	DeleteTask(ctx context.Context, graph, id int64) error

	// Effective merges the graphs of a type of an environment: of its selection, or only of some layers.
	Effective(ctx context.Context, environment, graphType string, layers ...store.Layer) (Effective, error)

	// Plan returns what a run would do. Start starts one; the error is a Conflict while the environment has one.
	Plan(ctx context.Context, environment string, r RunRequest) (Plan, error)
	Start(ctx context.Context, environment string, r RunRequest) (Run, error)
	// Resume continues a run that failed, asks, or was stopped or interrupted. An answer is about a task run that it asks about.
	Resume(ctx context.Context, id int64, answer *Answer) (Run, error)
	Stop(ctx context.Context, id int64) (Run, error)
	// Runs returns up to limit runs of an environment with an ID below before, the latest first, without task runs.
	Runs(ctx context.Context, environment string, before int64, limit int) ([]Run, error)
	Run(ctx context.Context, id int64) (Run, error)
	// Events returns stored events of a run with a serial above after, oldest first.
	Events(ctx context.Context, id, after int64) ([]store.Event, error)
}

// Kind says what is wrong with a request.
type Kind string

// The kinds of errors.
const (
	Invalid  Kind = "invalid"
	NotFound Kind = "not found"
	Conflict Kind = "conflict"
)

// Error is an error that a user can do something about.
type Error struct {
	Kind    Kind
	Message string
}

func (e *Error) Error() string { return e.Message }

// Release is a release or a plugin.
type Release struct {
	ID      int64       `json:"id"`
	Layer   store.Layer `json:"layer" enum:"release,plugin"`
	Name    string      `json:"name"`
	Version string      `json:"version"`
}

// Selection has the layers of an environment.
type Selection struct {
	Environment string `json:"environment"`
	// Release is nil if none is selected.
	Release *Release  `json:"release"`
	Plugins []Release `json:"plugins"`
	// Order has the layers, later ones overriding earlier ones.
	Order []store.Layer `json:"order"`
	// Whole is set if tasks override whole tasks.
	Whole bool `json:"whole"`
}

// Graph is a stored graph.
type Graph struct {
	ID    int64       `json:"id"`
	Owner store.Owner `json:"owner"`
	Type  string      `json:"type"`
	Name  string      `json:"name"`
	Tasks []Task      `json:"tasks,omitempty"`
}

// Task is a stored task.
type Task struct {
	taskgraph.Task
	// DatabaseID changes when the content does.
	DatabaseID int64
}

// Effective is a merged graph.
type Effective struct {
	Type  string           `json:"type"`
	Tasks []taskgraph.Task `json:"tasks"`
	// Origins has the layer of each attribute, by task and attribute, such as "release shop 1.2".
	Origins map[string]map[string]string `json:"origins"`
}

// RunRequest asks for a run.
type RunRequest struct {
	// Type is "default" if it is empty.
	Type string `json:"type,omitempty"`
	// Nodes are names of nodes; none are all.
	Nodes []string `json:"nodes,omitempty"`
	// Event is "deploy_changes" if it is empty. All is set to run tasks that have nothing to do, too.
	Event string `json:"event,omitempty"`
	All   bool   `json:"all,omitempty"`
}

// Plan is what a run would do.
type Plan struct {
	Type  string     `json:"type"`
	Items []PlanItem `json:"items"`
}

// PlanItem is a task on a node.
type PlanItem struct {
	Task string `json:"task"`
	Node string `json:"node,omitempty"`
	Type string `json:"type"`
	// Skip says why it has nothing to do.
	Skip string `json:"skip,omitempty"`
	// Waits has the items that it waits for, such as "web-1/install"; those of Any are groups of which one is enough.
	Waits []string   `json:"waits,omitempty"`
	Any   [][]string `json:"any,omitempty"`
}

// Run is a run with its task runs.
type Run struct {
	ID          int64       `json:"id"`
	Environment string      `json:"environment"`
	Type        string      `json:"type"`
	State       store.State `json:"state"`
	Message     string      `json:"message,omitempty"`
	Created     time.Time   `json:"created"`
	Ended       time.Time   `json:"ended,omitzero"`
	// Running is set while a process holds the run; otherwise one that is RUNNING was interrupted.
	Running bool      `json:"running"`
	Tasks   []TaskRun `json:"tasks,omitempty"`
}

// TaskRun is a task on a node.
type TaskRun struct {
	Number  int         `json:"number"`
	Task    string      `json:"task"`
	Node    string      `json:"node,omitempty"`
	State   store.State `json:"state"`
	Started time.Time   `json:"started,omitzero"`
	Ended   time.Time   `json:"ended,omitzero"`
	Message string      `json:"message,omitempty"`
}

// Answer says what became of a task run whose outcome is unknown.
type Answer struct {
	Number int `json:"number"`
	// Done is set if it took effect; otherwise it runs again.
	Done bool `json:"done"`
}
