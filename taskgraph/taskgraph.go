// Package taskgraph parses, checks, and merges task graphs: workflows that patch, upgrade, and repair deployed
// resources. Its subpackages store and run them.
//
//	file ──Parse──▶ Graph ──service──▶ layers ──Merge──▶ Effective ──schedule──▶ runs of tasks on nodes ──run──▶ done
//
// A graph has a type, such as "default" or "upgrade", and an owner: a release, a plugin, or an environment, also called
// a cluster. The effective graph of an environment merges the graphs of one type from all three layers. It runs on the
// environment's nodes, which have roles.
//
// The package follows the specification "Ability To Execute Custom Deployment Graph" and docs/tasks.md.
package taskgraph

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"go.yaml.in/yaml/v4"
)

// DefaultType is the default type of graphs.
const DefaultType = "default"

// Graph is a graph in a file or in the API.
type Graph struct {
	Type string `json:"type,omitempty"`
	// Name is a description for users.
	Name  string `json:"name,omitempty"`
	Tasks []Task `json:"tasks,omitzero"`
	// Warnings lists unknown attributes whose names look like typos. They are kept.
	Warnings []Problem `json:"-"`

	nodes map[string]*yaml.Node // of parsed tasks
}

// Task is a task of one layer, possibly with only some attributes.
type Task struct {
	// ID is the task's name, unique in its graph.
	ID string
	// Attributes are JSON values, with numbers as [json.Number], without "id" and "_id". They must not be modified.
	Attributes map[string]any
}

// attributes lists the known attributes in canonical order.
var attributes = []string{
	"version", "type", "roles", "groups", "tasks", "requires", "required_for", "cross_depends", "cross_depended_by", "condition",
	"reexecute_on", "refresh_on", "idempotent", "fail_on_error", "test_pre", "test_post", "parameters",
}

// Names returns the attribute names in canonical order: known ones first, then the others, sorted.
func (t Task) Names() []string {
	return slices.SortedFunc(maps.Keys(t.Attributes), func(a, b string) int {
		i, j := slices.Index(attributes, a), slices.Index(attributes, b)
		return cmp.Or(cmp.Compare(uint(i), uint(j)), cmp.Compare(a, b)) // -1 is last.
	})
}

// MarshalJSON writes the id, then the attributes in the order of [Task.Names]. Equal tasks have equal JSON.
func (t Task) MarshalJSON() ([]byte, error) {
	text := []byte("{")
	for i, name := range append([]string{"id"}, t.Names()...) {
		v := any(t.ID)
		if i > 0 {
			text, v = append(text, ','), t.Attributes[name]
		}
		key, _ := json.Marshal(name) // Marshaling a string cannot fail.
		value, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		text = append(append(append(text, key...), ':'), value...)
	}
	return append(text, '}'), nil
}

// UnmarshalJSON accepts an object with an id, and ignores _id.
func (t *Task) UnmarshalJSON(text []byte) (err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v map[string]any
	if err := d.Decode(&v); err != nil {
		return err
	}
	*t, err = newTask(v)
	return err
}

// newTask converts an object to a task. It takes ownership of the object.
func newTask(object map[string]any) (Task, error) {
	id, ok := object["id"].(string)
	switch {
	case object["id"] == nil:
		return Task{}, errors.New("a task must be an object with an id")
	case !ok:
		return Task{}, errors.New("id must be a string; put it in quotes")
	}
	delete(object, "id")
	delete(object, "_id")
	return Task{id, object}, nil
}

// Spec holds the decoded attributes of a task.
type Spec struct {
	ID      string
	Version string
	// Type is the task type, such as "shell".
	Type string
	// Roles selects the nodes that the task runs on; the default is all. The attribute groups is a synonym.
	Roles Selector
	// Tasks lists the members of a group.
	Tasks []string
	// Requires and RequiredFor list tasks that run before and after this one on the same node.
	Requires, RequiredFor []string
	// CrossDepends and CrossDependedBy list tasks that run before and after this one on other nodes.
	CrossDepends, CrossDependedBy []Cross
	// A successful task runs again on the events of ReexecuteOn, or when a value in RefreshOn changes: a parameter, by
	// path, or a resource, by URN.
	ReexecuteOn, RefreshOn []string
	// TestPre and TestPost are commands that must succeed before and after the task.
	TestPre, TestPost *Test
	Parameters        map[string]any
	// Condition is a YAQL expression, or "". If it is false, the task is skipped.
	Condition string
	// Once (idempotent: false) means that the task must not run again if its outcome is unknown.
	Once bool
	// Tolerant (fail_on_error: false) means that dependents run even if the task fails.
	Tolerant bool
	// Strategy limits the number of nodes on which the task runs at once, from parameters.strategy; 0 means no limit.
	Strategy int
	// Rolling (strategy one_by_one) means that the task starts on no more nodes after it fails on one.
	Rolling bool
	// Timeout limits one attempt, Retries is the number of attempts after the first, and Interval the time between
	// them; from parameters.
	Timeout  time.Duration
	Retries  int
	Interval time.Duration
}

// Cross is a dependency on tasks of other nodes.
type Cross struct {
	// Name is the ID of a task.
	Name string
	// Role selects the nodes. Self means the node of the dependent task.
	Role Selector
	Self bool
	// Any means that one of the nodes is enough.
	Any bool
}

// Test is a command that must succeed before or after a task.
type Test struct {
	Cmd string
	// Timeout limits one attempt; the default is one minute, and 0 means no limit.
	Timeout time.Duration
	// Retries is the number of attempts after the first.
	Retries int
}

// Types without an action of their own. A stage runs once for all nodes.
const (
	StageType   = "stage"
	GroupType   = "group"
	AnchorType  = "anchor"
	SkippedType = "skipped"
)
