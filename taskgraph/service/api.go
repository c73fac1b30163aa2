// Package service implements the operations on task graphs, for commands and the server.
package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/taskgraph/run"
)

// API defines the operations on task graphs. [Service] implements them on a store, package server/client on a server.
//
// A change to graphs, tasks, or selections is rejected if it would make a release's graph, or the effective graph of an
// environment, invalid.
//
// Methods return a *[taskgraph.Error] for an invalid graph, and an *[Error] for any other problem that a user can fix.
type API interface {
	// AddRelease adds a release or plugin; it fails with Conflict if it exists. DeleteRelease deletes one with its
	// graphs; it fails with Conflict if an environment uses it.
	AddRelease(ctx context.Context, r Release) (Release, error)
	Releases(ctx context.Context, layer store.Layer) ([]Release, error)
	DeleteRelease(ctx context.Context, layer store.Layer, id int64) error
	// Use selects the layers of an environment, its release and plugins, by ID.
	Use(ctx context.Context, s Selection) (Selection, error)
	Selection(ctx context.Context, environment string) (Selection, error)

	// Graphs returns the graphs of an owner, or all graphs if owner is nil, without their tasks.
	Graphs(ctx context.Context, owner *store.Owner) ([]Graph, error)
	// Graph and Find return a graph with its tasks, by ID and by owner and type, respectively.
	Graph(ctx context.Context, id int64) (Graph, error)
	Find(ctx context.Context, owner store.Owner, graphType string) (Graph, error)
	// Create adds a graph; it fails with Conflict if the owner already has one of that type. Update replaces the name
	// and tasks that are not nil; unchanged tasks keep their IDs.
	Create(ctx context.Context, owner store.Owner, g taskgraph.Graph) (Graph, error)
	Update(ctx context.Context, id int64, name *string, tasks []taskgraph.Task) (Graph, error)
	Delete(ctx context.Context, id int64) error
	// UpdateTask replaces a task, which gets a new ID if its content changes. DeleteTask deletes one.
	UpdateTask(ctx context.Context, graph, id int64, t taskgraph.Task) (Task, error)
	DeleteTask(ctx context.Context, graph, id int64) error

	// Effective merges the graphs of a type selected by an environment, or only those in the given layers.
	Effective(ctx context.Context, environment, graphType string, layers ...store.Layer) (Effective, error)

	// Plan returns the items of a run without starting it. Start starts a run; it fails with Conflict while the
	// environment has one.
	Plan(ctx context.Context, environment string, r RunRequest) (Plan, error)
	Start(ctx context.Context, environment string, r RunRequest) (Run, error)
	// Resume continues a run that failed, was stopped, was interrupted, or is waiting for an answer. The answer is for
	// a task run with an unknown outcome.
	Resume(ctx context.Context, id int64, answer *Answer) (Run, error)
	Stop(ctx context.Context, id int64) (Run, error)
	// Runs returns up to limit runs of an environment with IDs below before, newest first, without their task runs.
	Runs(ctx context.Context, environment string, before int64, limit int) ([]Run, error)
	Run(ctx context.Context, id int64) (Run, error)
	// Events returns up to 1000 stored events of a run with a serial greater than after, oldest first.
	Events(ctx context.Context, id, after int64) ([]store.Event, error)
}

// Kind classifies errors.
type Kind string

// The kinds of errors.
const (
	Invalid  Kind = "invalid"
	NotFound Kind = "not found"
	Conflict Kind = "conflict"
)

// Error is an error that a user can fix.
type Error struct {
	Kind    Kind
	Message string
}

func (e *Error) Error() string { return e.Message }

type (
	// Release is a release or a plugin.
	Release = store.Release
	// TaskRun is a task on a node.
	TaskRun = store.TaskRun
	// Answer resolves a task run whose outcome is unknown.
	Answer = run.Answer
)

// Selection selects the layers of an environment.
type Selection struct {
	Environment string `json:"environment"`
	// Release is nil if none is selected.
	Release *Release  `json:"release,omitempty"`
	Plugins []Release `json:"plugins"`
	// Order lists the layers; later ones override earlier ones.
	Order []store.Layer `json:"order"`
	// Whole means that tasks override whole tasks instead of attributes.
	Whole bool `json:"whole"`
}

// Graph is a stored graph.
type Graph struct {
	ID   int64  `json:"id"`
	Type string `json:"type"`
	Name string `json:"name"`
	// Relations is the owner.
	Relations [1]store.Owner `json:"relations" doc:"The owner of the graph: a graph has one."`
	// Tasks is nil in lists of graphs.
	Tasks []Task `json:"tasks,omitzero"`
}

// Task is a stored task. Its JSON includes "_id", which uploads ignore.
type Task struct {
	taskgraph.Task
	// DatabaseID changes with the content.
	DatabaseID int64
}

// MarshalJSON puts "_id" before the attributes of the task.
func (t Task) MarshalJSON() ([]byte, error) {
	text, err := t.Task.MarshalJSON()
	if err != nil {
		return nil, err
	}
	return append(fmt.Appendf(nil, `{"_id":%d,`, t.DatabaseID), text[1:]...), nil
}

// UnmarshalJSON is the inverse of MarshalJSON.
func (t *Task) UnmarshalJSON(text []byte) error {
	var id struct {
		ID int64 `json:"_id"`
	}
	err := errors.Join(json.Unmarshal(text, &id), t.Task.UnmarshalJSON(text))
	t.DatabaseID = id.ID
	return err
}

// Effective is a merged graph.
type Effective struct {
	Type  string           `json:"type"`
	Tasks []taskgraph.Task `json:"tasks"`
	// Origins holds the layer that sets each attribute, such as "release shop 1.2", by task and attribute.
	Origins map[string]map[string]string `json:"origins"`
}

// RunRequest is a request for a run.
type RunRequest struct {
	// Type defaults to "default".
	Type string `json:"type,omitempty"`
	// Nodes lists names of nodes; nil means all.
	Nodes []string `json:"nodes,omitempty" minItems:"1"`
	// Event defaults to "deploy_changes". All also runs unchanged tasks.
	Event string `json:"event,omitempty"`
	All   bool   `json:"all,omitempty"`
}

// Plan lists the items of a run.
type Plan struct {
	Type  string     `json:"type"`
	Items []PlanItem `json:"items"`
}

// PlanItem is a task on a node.
type PlanItem struct {
	Task string `json:"task"`
	Node string `json:"node,omitempty"`
	Type string `json:"type"`
	// Skip is the reason to skip the item, or "".
	Skip string `json:"skip,omitempty"`
	// Waits lists the item's dependencies, such as "web-1/install". Any lists groups of alternative dependencies.
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
	// Running means that a process holds the run. If it is false, a run in the state RUNNING was interrupted.
	Running bool      `json:"running"`
	Tasks   []TaskRun `json:"tasks,omitempty"`
}
