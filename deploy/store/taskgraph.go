package store

import (
	"errors"
	"time"
)

// TaskTx contains statements for task graphs, their owners, and their runs. Their content is defined by package
// taskgraph.
//
// A run is a job of kind [Tasks] whose Module is the type of the graph. Queue and History do not include runs.
type TaskTx interface {
	// AddRelease adds a release or a plugin and returns its ID. It returns [ErrExists] if the layer already contains
	// that name and version.
	AddRelease(Release) (id int64, err error)
	// Releases returns all releases and plugins, sorted by ID. DeleteRelease deletes a release or plugin and its
	// graphs.
	Releases() ([]Release, error)
	DeleteRelease(id int64) error
	// Selections returns all selections, sorted by environment. PutSelection adds or replaces a selection.
	Selections() ([]Selection, error)
	PutSelection(Selection) error

	// AddGraph adds a graph and returns its ID. It returns [ErrExists] if the owner already has a graph of that type,
	// and [ErrNotFound] if the owner does not exist. PutGraph replaces the name and the order of a graph. DeleteGraph
	// deletes a graph and its tasks.
	AddGraph(TaskGraph) (id int64, err error)
	// Graphs returns all graphs, sorted by ID.
	Graphs() ([]TaskGraph, error)
	PutGraph(TaskGraph) error
	DeleteGraph(id int64) error
	// GraphTasks returns the tasks of a graph, sorted by ID. AddGraphTask adds a task and returns its ID. It returns
	// [ErrExists] if the graph already contains a task with that name.
	GraphTasks(graph int64) ([]GraphTask, error)
	AddGraphTask(GraphTask) (id int64, err error)
	DeleteGraphTask(id int64) error

	// Runs returns up to limit runs of an environment, latest first. If before is not 0, it returns only runs with
	// lower IDs.
	Runs(environment string, before int64, limit int) ([]Job, error)
	// PutTaskRuns adds or replaces task runs by number. The caller must not modify all afterward. TaskRuns returns the
	// task runs of a run, sorted by number.
	PutTaskRuns(run int64, all []TaskRun) error
	TaskRuns(run int64) ([]TaskRun, error)
	// LastTaskRuns returns, for each task and node in the runs of a graph type, the latest task run that was not
	// skipped, sorted by task and node. Once stored with another state, a task run must not become skipped.
	LastTaskRuns(environment, graphType string) ([]TaskRun, error)
}

// ErrExists means that a row with the same key already exists.
var ErrExists = errors.New("already exists")

// Layer is the kind of a task graph's owner.
type Layer string

// Layers in their default order. Later layers override earlier ones.
const (
	ReleaseLayer Layer = "release"
	ClusterLayer Layer = "cluster"
	PluginLayer  Layer = "plugin"
)

// Release is a version of a package. In the plugin layer, the package contains additional tasks.
type Release struct {
	ID      int64  `json:"id" readOnly:"true"`
	Layer   Layer  `json:"layer" enum:"release,plugin" readOnly:"true"`
	Name    string `json:"name"`
	Version string `json:"version"`
}

// String returns the layer, name, and version, such as "release shop 1.2".
func (r Release) String() string { return string(r.Layer) + " " + r.Name + " " + r.Version }

// Owner identifies the owner of a graph.
type Owner struct {
	Layer Layer `json:"layer" enum:"release,cluster,plugin"`
	// ID is the ID of a release or a plugin. It is 0 in the cluster layer.
	ID int64 `json:"id,omitempty"`
	// Environment is set only in the cluster layer.
	Environment string `json:"environment,omitempty"`
}

// Selection determines the layers that form the effective graphs of an environment.
type Selection struct {
	Environment string
	// Release is the ID of a release, or 0 for none.
	Release int64
	// Plugins lists the IDs of plugins in the order in which they are merged.
	Plugins []int64
	// Order lists the layers; later layers override earlier ones. If nil, the default order is used.
	Order []Layer
	// Whole is set if a task overrides the entire task of an earlier layer, rather than individual attributes.
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

// GraphTask is an immutable task of a graph. A task with changed content gets a new ID.
type GraphTask struct {
	ID    int64
	Graph int64
	// Name is unique within the graph.
	Name string
	// Content is the task encoded as JSON.
	Content string
}

// TaskRun is one run of a task on a node.
type TaskRun struct {
	// Number counts from 0 in each run.
	Number int    `json:"number"`
	Task   string `json:"task"`
	// Node is empty for a task that runs once rather than on each node.
	Node  string `json:"node,omitempty"`
	State State  `json:"state"`
	// Digest identifies the content of the task. Refresh identifies the values that the task depends on.
	Digest, Refresh string `json:"-"`
	// Owner is the process that started the task run. Attempt is the number of restarts so far.
	Owner   string    `json:"-"`
	Attempt int       `json:"-"`
	Started time.Time `json:"started,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`
	Message string    `json:"message,omitempty"`
	// Tolerated means that the task failed, which does not affect its dependents or the run.
	Tolerated bool `json:"tolerated,omitempty"`
}
