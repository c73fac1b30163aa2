// Package service implements operations on task graphs for commands and the server.
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
	"github.com/lumi-idl/lumi/taskgraph/schedule"
)

// API is the set of operations on task graphs. [Service] implements it on a store; package server/client implements it
// on a server.
//
// A change to graphs, tasks, or selections is rejected if it would invalidate a release's graph or the effective graph
// of an environment.
//
// Methods return a *[taskgraph.Error] for an invalid graph and an *[Error] for other problems that users can fix.
type API interface {
	// AddRelease adds a release or a plugin. It returns a Conflict error if it already exists. DeleteRelease deletes a
	// release or a plugin with its graphs. It returns a Conflict error if an environment uses it.
	AddRelease(ctx context.Context, r Release) (Release, error)
	Releases(ctx context.Context, layer store.Layer) ([]Release, error)
	DeleteRelease(ctx context.Context, layer store.Layer, id int64) error
	// Clusters returns all environments, in alphabetical order.
	Clusters(ctx context.Context) ([]Cluster, error)
	// Use sets the release and the plugins of an environment by ID.
	Use(ctx context.Context, s Selection) (Selection, error)
	Selection(ctx context.Context, environment string) (Selection, error)

	// Graphs returns the graphs of an owner, or all graphs if owner is nil. The graphs have no tasks.
	Graphs(ctx context.Context, owner *store.Owner) ([]Graph, error)
	// Graph returns the graph with the given ID and its tasks. Find does so given an owner and a type.
	Graph(ctx context.Context, id int64) (Graph, error)
	Find(ctx context.Context, owner store.Owner, graphType string) (Graph, error)
	// Create adds a graph. It returns a Conflict error if the owner already has a graph of this type. Update replaces
	// the name and the tasks of a graph unless they are nil. Unchanged tasks keep their IDs.
	Create(ctx context.Context, owner store.Owner, g taskgraph.Graph) (Graph, error)
	Update(ctx context.Context, id int64, name *string, tasks []taskgraph.Task) (Graph, error)
	Delete(ctx context.Context, id int64) error
	// UpdateTask replaces a task. The task gets a new ID if its content changes. DeleteTask deletes a task.
	UpdateTask(ctx context.Context, graph, id int64, t taskgraph.Task) (Task, error)
	DeleteTask(ctx context.Context, graph, id int64) error

	// Effective merges the graphs of the given type that an environment selects, or only the graphs in the given layers.
	Effective(ctx context.Context, environment, graphType string, layers ...store.Layer) (Effective, error)

	// Plan returns the items of a run without starting it. Start starts a run. It returns a Conflict error if the
	// environment has an active run.
	Plan(ctx context.Context, environment string, r RunRequest) (Plan, error)
	Start(ctx context.Context, environment string, r RunRequest) (Run, error)
	// Resume continues a run that failed, was stopped, was interrupted, or is waiting for an answer. answer resolves a
	// task run with an unknown outcome.
	Resume(ctx context.Context, id int64, answer *Answer) (Run, error)
	Stop(ctx context.Context, id int64) (Run, error)
	// Runs returns up to limit runs of an environment with IDs less than before, newest first, without their task runs.
	Runs(ctx context.Context, environment string, before int64, limit int) ([]Run, error)
	Run(ctx context.Context, id int64) (Run, error)
	// Events returns up to 1,000 stored events of a run with serials greater than after, oldest first.
	Events(ctx context.Context, id, after int64) ([]store.Event, error)
	// Follow calls show for the stored events of a run with serials greater than after, oldest first, until no process
	// holds the run, and returns the run. It may also call show without events. Errors of show end it.
	Follow(ctx context.Context, id, after int64, show func([]store.Event) error) (Run, error)
}

// Kind classifies errors.
type Kind string

// Kinds of errors.
const (
	Invalid  Kind = "invalid"
	NotFound Kind = "not found"
	Conflict Kind = "conflict"
)

// Error is an error that users can fix.
type Error struct {
	Kind    Kind
	Message string
}

func (e *Error) Error() string { return e.Message }

type (
	// Release is a release or a plugin.
	Release = store.Release
	// TaskRun is the run of a task on a node.
	TaskRun = store.TaskRun
	// Answer resolves a task run whose outcome is unknown.
	Answer = run.Answer
)

// Cluster is an environment.
type Cluster struct {
	Name string `json:"name" doc:"The name of the environment, which identifies the cluster in paths."`
}

// Selection is the release, the plugins, and the layer order of an environment.
type Selection struct {
	Environment string `json:"environment"`
	// Release is nil if no release is selected.
	Release *Release  `json:"release"`
	Plugins []Release `json:"plugins"`
	// Order lists the layers in merge order: later layers override earlier ones.
	Order []store.Layer `json:"order"`
	// Whole means that layers override whole tasks instead of single attributes.
	Whole bool `json:"whole"`
}

// Graph is a stored graph.
type Graph struct {
	ID   int64  `json:"id"`
	Type string `json:"type"`
	Name string `json:"name"`
	// Relations contains the owner.
	Relations [1]store.Owner `json:"relations" doc:"The owner of the graph: a graph has one."`
	// Tasks is nil in a list of graphs.
	Tasks []Task `json:"tasks,omitzero"`
	// Warnings is set only in answers of servers to uploads.
	Warnings []taskgraph.Problem `json:"warnings,omitempty" doc:"In answers to uploads: attributes that are kept, but look like typos."`
}

// Task is a stored task. Its JSON form includes "_id" and "_warnings", which are ignored in uploads.
type Task struct {
	taskgraph.Task
	// DatabaseID is the ID of the stored task. It changes with the content.
	DatabaseID int64
	// Warnings is set only in answers of servers to uploads of tasks.
	Warnings []taskgraph.Problem
}

// MarshalJSON encodes "_id" and, if there are any, "_warnings", followed by the attributes of the task.
func (t Task) MarshalJSON() ([]byte, error) {
	text, err := t.Task.MarshalJSON()
	if err != nil {
		return nil, err
	}
	all := fmt.Appendf(nil, `{"_id":%d,`, t.DatabaseID)
	if len(t.Warnings) > 0 {
		warnings, _ := json.Marshal(t.Warnings) // marshaling strings and numbers cannot fail
		all = fmt.Appendf(all, `"_warnings":%s,`, warnings)
	}
	return append(all, text[1:]...), nil
}

// UnmarshalJSON decodes JSON produced by MarshalJSON.
func (t *Task) UnmarshalJSON(text []byte) error {
	var stored struct {
		ID       int64               `json:"_id"`
		Warnings []taskgraph.Problem `json:"_warnings"`
	}
	err := errors.Join(json.Unmarshal(text, &stored), t.Task.UnmarshalJSON(text))
	t.DatabaseID, t.Warnings = stored.ID, stored.Warnings
	return err
}

// Effective is the result of merging the graphs of an environment.
type Effective struct {
	Type  string           `json:"type"`
	Tasks []taskgraph.Task `json:"tasks"`
	// Origins contains the name of the layer that sets each attribute, such as "release shop 1.2", by task and
	// attribute.
	Origins map[string]map[string]string `json:"origins"`
}

// RunRequest is a request for a run.
type RunRequest struct {
	// Type is the type of the graph. The default is "default".
	Type string `json:"type,omitempty"`
	// Nodes lists the names of the nodes to run on. If it is nil, the run includes all nodes.
	Nodes []string `json:"nodes,omitempty" minItems:"1"`
	// Event is the event of the run. The default is "deploy_changes". All also runs unchanged tasks.
	Event string `json:"event,omitempty"`
	All   bool   `json:"all,omitempty"`
	// Choice limits the run to some tasks.
	schedule.Choice
}

// Plan lists the items that a run would have.
type Plan struct {
	Type  string     `json:"type"`
	Items []PlanItem `json:"items"`
	// Windows lists the groups whose strategy or fault tolerance applies.
	Windows []PlanWindow `json:"windows,omitempty"`
}

// PlanWindow limits the members of a group: they run on up to Amount of its nodes at a time, or on any number if it is
// 0, and may fail on up to MayFail nodes.
type PlanWindow struct {
	Group   string   `json:"group"`
	Amount  int      `json:"amount,omitempty"`
	MayFail int      `json:"mayFail"`
	Nodes   []string `json:"nodes"`
}

// PlanItem is a task on a node, or a stage.
type PlanItem struct {
	Task string `json:"task"`
	Node string `json:"node,omitempty"`
	Type string `json:"type"`
	// Skip is the reason for skipping the item, or "".
	Skip string `json:"skip,omitempty"`
	// Condition is the condition of the task, and Holds is its value. They are missing if the task has no condition.
	Condition string `json:"condition,omitempty"`
	Holds     *bool  `json:"holds,omitempty"`
	// Waits lists the names of the item's dependencies, such as "web-1/install". Any lists groups of dependencies of
	// which only one is required.
	Waits []string   `json:"waits,omitempty"`
	Any   [][]string `json:"any,omitempty"`
}

// Run is a run and its task runs.
type Run struct {
	ID          int64       `json:"id"`
	Environment string      `json:"environment"`
	Type        string      `json:"type"`
	State       store.State `json:"state"`
	Message     string      `json:"message,omitempty"`
	Created     time.Time   `json:"created"`
	Ended       time.Time   `json:"ended,omitzero"`
	// Running means that a process holds the run. A run in state RUNNING for which it is false was interrupted.
	Running bool      `json:"running"`
	Tasks   []TaskRun `json:"tasks,omitempty"`
}
