package store

import (
	"errors"
	"time"
)

// TaskTx has the statements about task graphs, who owns them, and their runs. Package taskgraph describes what is stored.
//
// A run is a job whose Kind is [Tasks] and whose Module is the type of the graph. Queue and History leave runs out.
type TaskTx interface {
	// AddRelease adds a release or a plugin and returns its ID. The error is [ErrExists] if the layer has one of that name and
	// version.
	AddRelease(Release) (id int64, err error)
	// Releases returns all releases and plugins, by ID. DeleteRelease deletes one with its graphs.
	Releases() ([]Release, error)
	DeleteRelease(id int64) error
	// Selections returns the selections of all environments that have one, by environment. PutSelection adds or replaces one.
	Selections() ([]Selection, error)
	PutSelection(Selection) error

	// AddGraph adds a graph and returns its ID. The error is [ErrExists] if the owner has one of that type, and [ErrNotFound] if
	// there is no such owner. PutGraph replaces the name and the order of a graph, DeleteGraph deletes it with its tasks.
	AddGraph(TaskGraph) (id int64, err error)
	// Graphs returns all graphs, by ID.
	Graphs() ([]TaskGraph, error)
	PutGraph(TaskGraph) error
	DeleteGraph(id int64) error
	// GraphTasks returns the tasks of a graph, by ID. AddGraphTask adds one and returns its ID. The error is [ErrExists] if the
	// graph has one of that name.
	GraphTasks(graph int64) ([]GraphTask, error)
	AddGraphTask(GraphTask) (id int64, err error)
	DeleteGraphTask(id int64) error

	// Runs returns up to limit runs of an environment with an ID below before, the latest first; a before of 0 is no bound.
	Runs(environment string, before int64, limit int) ([]Job, error)
	// PutTaskRuns adds or replaces task runs of a run, by number. They must not be changed any more. TaskRuns returns them, by number.
	PutTaskRuns(run int64, all []TaskRun) error
	TaskRuns(run int64) ([]TaskRun, error)
	// LastTaskRuns returns the latest task run for each task and node in the runs of a type, except those that were skipped, by
	// task and node. A task run that was put with another state does not become skipped.
	LastTaskRuns(environment, graphType string) ([]TaskRun, error)
}

// ErrExists says that there is such a row already.
var ErrExists = errors.New("already exists")

// Layer is a kind of owner of task graphs.
type Layer string

// The layers, in the order in which later ones override earlier ones by default.
const (
	ReleaseLayer Layer = "release"
	ClusterLayer Layer = "cluster"
	PluginLayer  Layer = "plugin"
)

// Release is a version of a package or, in the layer of plugins, of a package of further tasks.
type Release struct {
	ID      int64  `json:"id" readOnly:"true"`
	Layer   Layer  `json:"layer" enum:"release,plugin" readOnly:"true"`
	Name    string `json:"name"`
	Version string `json:"version"`
}

// String returns the name of the release, such as "release shop 1.2".
func (r Release) String() string { return string(r.Layer) + " " + r.Name + " " + r.Version }

// Owner is what a graph belongs to.
type Owner struct {
	Layer Layer `json:"layer" enum:"release,cluster,plugin"`
	// ID is that of a release or a plugin.
	ID int64 `json:"id,omitempty"`
	// Environment is that of the layer Cluster.
	Environment string `json:"environment,omitempty"`
}

// Selection says which layers the effective graphs of an environment have.
type Selection struct {
	Environment string
	// Release is the ID of a release, or 0.
	Release int64
	// Plugins are the IDs of plugins, in the order in which they are merged.
	Plugins []int64
	// Order has the layers, later ones overriding earlier ones; it is nil for the default.
	Order []Layer
	// Whole is set if a task replaces the whole task of an earlier layer, not just its attributes.
	Whole bool
}

// TaskGraph is a graph of one type. An owner has at most one of each.
type TaskGraph struct {
	ID    int64
	Owner Owner
	Type  string
	// Name is for people.
	Name string
	// Order has the IDs of the tasks in the order of the graph.
	Order []int64
}

// GraphTask is a task of a graph. It is never changed: one with other content is another one, with an ID of its own.
type GraphTask struct {
	ID    int64
	Graph int64
	// Name is unique in the graph.
	Name string
	// Content is the task in JSON.
	Content string
}

// TaskRun is the run of a task on a node.
type TaskRun struct {
	// Number counts from 0 in each run.
	Number int    `json:"number"`
	Task   string `json:"task"`
	// Node is empty for tasks that run once for all nodes.
	Node  string `json:"node,omitempty"`
	State State  `json:"state"`
	// Digest identifies the content of the task, and Refresh the values that it depends on.
	Digest, Refresh string `json:"-"`
	// Owner is the process that runs or ran it, and Attempt counts from 0 how often it was begun anew.
	Owner   string `json:"-"`
	Attempt int    `json:"-"`
	// Started and Ended are zero until then.
	Started time.Time `json:"started,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`
	Message string    `json:"message,omitempty"`
}
