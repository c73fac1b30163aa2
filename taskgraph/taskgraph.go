// Package taskgraph parses, checks, and merges task graphs: workflows that patch, upgrade, and repair deployed
// resources. Its subpackages store and run them.
//
//	file ──Parse──▶ Graph ──service──▶ layers ──Merge──▶ Effective ──schedule──▶ runs of tasks on nodes ──run──▶ done
//
// A graph has a type, such as "default" or "upgrade", and an owner: a release, a plugin, or an environment (also called
// a cluster). The effective graph of an environment is the result of merging the graphs of one type from all three
// layers. It runs on the environment's nodes, which have roles.
//
// The package implements the specification "Ability To Execute Custom Deployment Graph" and docs/tasks.md.
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

// Graph is a graph in a file or in a request.
type Graph struct {
	Type string `json:"type,omitempty"`
	// Name is a description for users.
	Name  string `json:"name,omitempty"`
	Tasks []Task `json:"tasks,omitzero"`
	// Warnings lists unknown attributes that look like typos. The attributes are kept.
	Warnings []Problem `json:"-"`
	// Synonyms lists the other spellings of attributes in a file, in source order.
	Synonyms []Synonym `json:"-"`

	nodes map[string]*yaml.Node // YAML nodes of parsed tasks by ID
}

// Task is a task in one layer. It may have only some of its attributes.
type Task struct {
	// ID is the name of the task, which is unique in a graph.
	ID string
	// Attributes contains JSON values, in which numbers are [json.Number], except "id", "_id", and "_warnings". It must not be
	// modified.
	Attributes map[string]any
}

// attributes lists the known attributes in canonical order.
var attributes = []string{
	"version", "type", "roles", "groups", "tags", "tasks", "requires", "required_for", "cross_depends", "cross_depended_by", "condition",
	"reexecute_on", "refresh_on", "idempotent", "fail_on_error", "fault_tolerance", "test_pre", "test_post", "parameters",
}

// Attributes returns the canonical names of the known attributes in canonical order.
func Attributes() []string { return slices.Clone(attributes) }

// Names returns the names of the attributes in canonical order: known attributes first, followed by others in
// alphabetical order.
func (t Task) Names() []string {
	return slices.SortedFunc(maps.Keys(t.Attributes), func(a, b string) int {
		i, j := slices.Index(attributes, a), slices.Index(attributes, b)
		return cmp.Or(cmp.Compare(uint(i), uint(j)), cmp.Compare(a, b)) // -1 is last
	})
}

// MarshalJSON encodes the id followed by the attributes in the order of [Task.Names]. Equal tasks have equal JSON.
func (t Task) MarshalJSON() ([]byte, error) {
	text := []byte("{")
	for i, name := range append([]string{"id"}, t.Names()...) {
		v := any(t.ID)
		if i > 0 {
			text, v = append(text, ','), t.Attributes[name]
		}
		key, _ := json.Marshal(name) // marshaling a string cannot fail
		value, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		text = append(append(append(text, key...), ':'), value...)
	}
	return append(text, '}'), nil
}

// UnmarshalJSON decodes an object with an id. It ignores _id and _warnings.
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

// newTask converts an object to a task and takes ownership of the object. It returns an error if the id is invalid.
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
	delete(object, "_warnings")
	return Task{id, object}, nil
}

// Spec contains the decoded attributes of a task.
type Spec struct {
	// Source is the task. The results of its expressions are unknown, and missing in the other fields.
	Source  Task
	ID      string
	Version string
	// Type is the task type, such as "shell".
	Type string
	// Roles selects the nodes on which the task runs, by role and by tag. By default, it runs on all nodes. The
	// attribute groups is a synonym of roles.
	Roles Selector
	// Tasks lists the members of a group.
	Tasks []string
	// Requires lists tasks that must run before this one on the same node. RequiredFor lists tasks that must run after
	// it.
	Requires, RequiredFor []string
	// CrossDepends lists tasks that must run before this one on other nodes. CrossDependedBy lists tasks that must run
	// after it.
	CrossDepends, CrossDependedBy []Cross
	// A successful task runs again on the events in ReexecuteOn, or when a value listed in RefreshOn changes: a
	// parameter, given by its path, or a resource, given by its URN.
	ReexecuteOn, RefreshOn []string
	// TestPre must succeed before the task, and TestPost after it.
	TestPre, TestPost *Test
	Parameters        map[string]any
	// Condition is a YAQL expression, or "". The task is skipped if the condition is false.
	Condition string
	// Once, set by idempotent: false, means that the task must not run again while its outcome is unknown.
	Once bool
	// Tolerant, set by fail_on_error: false, means that dependents run even if the task fails.
	Tolerant bool
	// Strategy limits the number of nodes on which the task, or the members of a group, run at the same time; the zero
	// Share means no limit.
	Strategy Share
	// Rolling, set by the strategy one_by_one, means that the task does not start on further nodes after a failure.
	Rolling bool
	// FaultTolerance is the number of nodes on which members of a group may fail. It may be nil.
	FaultTolerance *Share
	// Timeout limits the duration of an attempt. Retries is the number of attempts after the first. Interval is the
	// time between attempts. They are set in the parameters.
	Timeout  time.Duration
	Retries  int
	Interval time.Duration
}

// Share is a number of nodes, or a percentage of nodes. The zero Share is 0.
type Share struct {
	Number    int
	IsPercent bool
}

// Cross is a dependency on a task on other nodes.
type Cross struct {
	// Name is the ID of a task.
	Name string
	// Role selects the nodes. Self means the node of the dependent task instead.
	Role Selector
	Self bool
	// Any means that one of the nodes is enough, on which the task succeeds or its failure is tolerated.
	Any bool
}

// Test is a command that must succeed before or after a task.
type Test struct {
	Cmd string
	// Timeout limits the duration of an attempt. The default is one minute; 0 means no limit.
	Timeout time.Duration
	// Retries is the number of attempts after the first.
	Retries int
}

// Types of tasks without an action of their own. A stage runs once for all nodes.
const (
	StageType   = "stage"
	GroupType   = "group"
	AnchorType  = "anchor"
	SkippedType = "skipped"
)
