package store

import (
	"errors"
	"time"
)

// TaskTx contains the statements for task graphs, their owners, and their runs. See package taskgraph for their
// content.
//
// A run is a job with Kind [Tasks] whose Module is the type of the graph. Queue and History omit runs.
type TaskTx interface {
	// AddRelease adds a release or plugin and returns its ID, or [ErrExists] if the layer already contains that name
	// and version.
	AddRelease(Release) (id int64, err error)
	// Releases returns all releases and plugins, by ID. DeleteRelease deletes one and its graphs.
	Releases() ([]Release, error)
	DeleteRelease(id int64) error
	// Selections returns all selections, by environment. PutSelection adds or replaces one.
	Selections() ([]Selection, error)
	PutSelection(Selection) error

	// AddGraph adds a graph and returns its ID. It returns [ErrExists] if the owner has a graph of that type, and
	// [ErrNotFound] if the owner does not exist. PutGraph replaces the name and order of a graph. DeleteGraph deletes
	// it and its tasks.
	AddGraph(TaskGraph) (id int64, err error)
	// Graphs returns all graphs, by ID.
	Graphs() ([]TaskGraph, error)
	PutGraph(TaskGraph) error
	DeleteGraph(id int64) error
	// GraphTasks returns the tasks of a graph, by ID. AddGraphTask adds one and returns its ID, or [ErrExists] if the
	// graph contains a task with that name.
	GraphTasks(graph int64) ([]GraphTask, error)
	AddGraphTask(GraphTask) (id int64, err error)
	DeleteGraphTask(id int64) error

	// Runs returns up to limit runs of an environment with IDs below before, latest first; 0 means no bound.
	Runs(environment string, before int64, limit int) ([]Job, error)
	// PutTaskRuns adds or replaces task runs of a run, by number. The caller must not change them afterward. TaskRuns
	// returns them, sorted by number.
	PutTaskRuns(run int64, all []TaskRun) error
	TaskRuns(run int64) ([]TaskRun, error)
	// LastTaskRuns returns the latest task run that was not skipped, for each task and node in the runs of a graph
	// type, sorted by task and node. A task run stored with another state must not become skipped.
	LastTaskRuns(environment, graphType string) ([]TaskRun, error)
}

// ErrExists means that a row with the same key exists.
var ErrExists = errors.New("already exists")

// Layer is a kind of task graph owner.
type Layer string

// Layers in default order: later ones override earlier ones.
const (
	ReleaseLayer Layer = "release"
	ClusterLayer Layer = "cluster"
	PluginLayer  Layer = "plugin"
)

// Release is a version of a package or, in the plugin layer, of a package of additional tasks.
type Release struct {
	ID      int64  `json:"id" readOnly:"true"`
	Layer   Layer  `json:"layer" enum:"release,plugin" readOnly:"true"`
	Name    string `json:"name"`
	Version string `json:"version"`
}

// String returns layer, name, and version, such as "release shop 1.2".
func (r Release) String() string { return string(r.Layer) + " " + r.Name + " " + r.Version }

// Owner is the owner of a graph.
type Owner struct {
	Layer Layer `json:"layer" enum:"release,cluster,plugin"`
	// ID is the ID of a release or a plugin.
	ID int64 `json:"id,omitempty"`
	// Environment is set in the cluster layer.
	Environment string `json:"environment,omitempty"`
}

// Selection selects the layers of the effective graphs of an environment.
type Selection struct {
	Environment string
	// Release is the ID of a release, or 0.
	Release int64
	// Plugins lists the IDs of plugins in merge order.
	Plugins []int64
	// Order lists the layers, later ones overriding earlier ones; nil for the default order.
	Order []Layer
	// Whole means that tasks override entire tasks of earlier layers instead of attributes.
	Whole bool
}

// TaskGraph is a task graph. An owner has at most one graph of each type.
type TaskGraph struct {
	ID    int64
	Owner Owner
	Type  string
	// Name is a display name.
	Name string
	// Order lists the IDs of the tasks in graph order.
	Order []int64
}

// GraphTask is an immutable task of a graph: changed content gets a new ID.
type GraphTask struct {
	ID    int64
	Graph int64
	// Name is unique in the graph.
	Name string
	// Content is the task in JSON.
	Content string
}

// TaskRun is a run of a task on a node.
type TaskRun struct {
	// Number counts from 0 in each run.
	Number int    `json:"number"`
	Task   string `json:"task"`
	// Node is empty for tasks that run once, not per node.
	Node  string `json:"node,omitempty"`
	State State  `json:"state"`
	// Digest identifies the content of the task, Refresh the values that it depends on.
	Digest, Refresh string `json:"-"`
	// Owner is the process that started the task run. Attempt is the number of restarts.
	Owner   string    `json:"-"`
	Attempt int       `json:"-"`
	Started time.Time `json:"started,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`
	Message string    `json:"message,omitempty"`
}
