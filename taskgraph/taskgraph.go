// Package taskgraph parses, checks and merges task graphs: workflows that patch, upgrade and repair what was deployed. The
// packages below it store and run them.
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
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"go.yaml.in/yaml/v4"
)

// DefaultType is the type of graphs where none is given.
const DefaultType = "default"

// Graph is a graph in a file or in the API.
type Graph struct {
	Type string `json:"type,omitempty"`
	// Name is for people.
	Name  string `json:"name,omitempty"`
	Tasks []Task `json:"tasks,omitzero"`
	// Warnings are about attributes that a parsed graph keeps although they look like others with a typing error.
	Warnings []Problem `json:"-"`

	nodes map[string]*yaml.Node // of parsed tasks
}

// Task is a task of a layer, which may have only some of its attributes.
type Task struct {
	// ID is the task's name, unique in its graph.
	ID string
	// Attributes has JSON values, with numbers as [json.Number], without "id" and "_id". They must not be changed.
	Attributes map[string]any
}

// attributes are the known attributes in canonical order.
var attributes = []string{
	"version", "type", "roles", "groups", "tasks", "requires", "required_for", "cross_depends", "cross_depended_by", "condition",
	"reexecute_on", "refresh_on", "idempotent", "fail_on_error", "test_pre", "test_post", "parameters",
}

// Names returns the names of the attributes in canonical order: known ones first, then the others, sorted.
func (t Task) Names() []string {
	return slices.SortedFunc(maps.Keys(t.Attributes), func(a, b string) int {
		i, j := slices.Index(attributes, a), slices.Index(attributes, b)
		return cmp.Or(cmp.Compare(uint(i), uint(j)), cmp.Compare(a, b)) // -1 is last.
	})
}

// MarshalJSON returns an object with the id and the attributes in the order of [Task.Names]. Equal tasks have equal text.
func (t Task) MarshalJSON() ([]byte, error) {
	text := []byte("{")
	for i, name := range append([]string{"id"}, t.Names()...) {
		v := any(t.ID)
		if i > 0 {
			text, v = append(text, ','), t.Attributes[name]
		}
		key, _ := json.Marshal(name) // A string has no error.
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

// newTask returns the task of an object, which it keeps.
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

// Spec has the decoded attributes of a task.
type Spec struct {
	ID      string
	Version string
	// Type is the task type, such as "shell".
	Type string
	// Roles picks the nodes that the task runs on, all by default. The attribute groups is a synonym.
	Roles Selector
	// Tasks are the members of a group.
	Tasks []string
	// Requires and RequiredFor name tasks that come before and after on the same node.
	Requires, RequiredFor []string
	// CrossDepends and CrossDependedBy are tasks that come before and after on other nodes.
	CrossDepends, CrossDependedBy []Cross
	// A task that has succeeded runs again on the events of ReexecuteOn, and when a parameter, by its path, or a resource, by its
	// URN, of RefreshOn changes.
	ReexecuteOn, RefreshOn []string
	// TestPre and TestPost are commands that must succeed before and after the task.
	TestPre, TestPost *Test
	Parameters        map[string]any
	// Condition is a YAQL expression, or "". The task is skipped if it is false.
	Condition string
	// Once is set if a task whose outcome is unknown must not run again: idempotent is false.
	Once bool
	// Tolerant is set if dependents run although the task failed: fail_on_error is false.
	Tolerant bool
	// Strategy limits on how many nodes the task runs at once, from parameters.strategy. 0 is no limit.
	Strategy int
	// Rolling is set if the task starts on no further node after it has failed on one: the strategy is one_by_one.
	Rolling bool
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

// Test is a command that must succeed before or after a task.
type Test struct {
	Cmd string
	// Timeout bounds one attempt: a minute by default, 0 is no bound.
	Timeout time.Duration
	// Retries is how many attempts follow the first one.
	Retries int
}

// Types that do nothing. A stage runs once for all nodes.
const (
	StageType   = "stage"
	GroupType   = "group"
	AnchorType  = "anchor"
	SkippedType = "skipped"
)
