// Package taskgraph has graphs of tasks that operate what was deployed: patches, upgrades, repairs. It parses, checks and
// merges them; the packages below it store and run them.
//
//	file ──Parse──▶ Graph ──service──▶ layers ──Merge──▶ Effective ──schedule──▶ runs of tasks on nodes ──run──▶ done
//
// A graph has a type, such as "default" or "upgrade", and an owner: a release, a plugin, or an environment, which is also
// called a cluster. The effective graph of an environment merges the graphs of one type of all three layers. It runs on the
// environment's nodes, which have roles.
//
// The package follows the specification "Ability To Execute Custom Deployment Graph" and docs/tasks.md.
package taskgraph

import (
	"encoding/json"
	"time"
)

// DefaultType is the type of graphs where none is given.
const DefaultType = "default"

// Graph is a graph as files and the API have it.
type Graph struct {
	Type string `json:"type,omitempty"`
	// Name is for people.
	Name  string `json:"name,omitempty"`
	Tasks []Task `json:"tasks"`
}

// Task is a task as it is written: its name and its attributes. A layer may have only some of the attributes.
type Task struct {
	// ID is the task's name, unique in its graph.
	ID string
	// Attributes are those with names other than "id". Values are those of JSON, numbers are [json.Number]. They must not be changed.
	Attributes map[string]any
}

// MarshalJSON returns the task as an object: the id, the known attributes in the order of [Attributes], and then the others by
// name. Equal tasks have equal text.
func (t Task) MarshalJSON() ([]byte, error) { return t.appendJSON(nil) }

// UnmarshalJSON accepts any object with an id.
func (t *Task) UnmarshalJSON(text []byte) error { return t.parseJSON(text) }

var (
	_ json.Marshaler   = Task{}
	_ json.Unmarshaler = (*Task)(nil)
)

// Spec is what the attributes of a task say.
type Spec struct {
	ID      string
	Version string
	// Type is the name of what runs the task, such as "shell".
	Type string
	// Roles picks the nodes that the task runs on. Its synonym is the attribute groups.
	Roles Selector
	// Tasks are the members of a group.
	Tasks []string
	// Requires and RequiredFor name tasks that come before and after on the same node.
	Requires, RequiredFor []string
	// CrossDepends and CrossDependedBy are tasks that come before and after on other nodes.
	CrossDepends, CrossDependedBy []Cross
	// ReexecuteOn has the events that run a task again that has succeeded; RefreshOn the paths of parameters, and the URNs of
	// resources, whose changes do.
	ReexecuteOn, RefreshOn []string
	// TestPre and TestPost are commands that must succeed before and after the task.
	TestPre, TestPost *Test
	Parameters        map[string]any
	// Condition is an expression in YAQL, or "". If it is false, the task is skipped.
	Condition string
	// Once is set if a task whose outcome is unknown must not run again: idempotent is false.
	Once bool
	// Tolerant is set if dependents run although the task failed: fail_on_error is false.
	Tolerant bool
	// Strategy limits on how many nodes the task runs at once, from parameters.strategy. 0 is no limit.
	Strategy int
	// Timeout bounds one attempt, Retries is how many follow the first one, Interval the time between them; from parameters.
	Timeout  time.Duration
	Retries  int
	Interval time.Duration
}

// Cross is a dependency on tasks of other nodes.
type Cross struct {
	// Name is a task.
	Name string
	// Role picks the nodes. Self is set for the node of the dependent task.
	Role Selector
	Self bool
	// Any is set if one of the nodes is enough.
	Any bool
}

// Test is a command around a task.
type Test struct {
	Cmd     string
	Timeout time.Duration
	Retries int
}

// Types that do nothing. A stage runs once for all nodes.
const (
	StageType   = "stage"
	GroupType   = "group"
	AnchorType  = "anchor"
	SkippedType = "skipped"
)
