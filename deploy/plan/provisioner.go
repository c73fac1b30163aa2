package plan

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/lumigl"
)

// Provisioner makes the changes of a task. Its methods must be idempotent: tasks are repeated after a crash.
type Provisioner interface {
	// Plan describes the changes without making them.
	Plan(ctx context.Context, in Input) (Details, error)
	// Provision starts the changes and returns a token for Status, or "" if there is nothing to change. After an error
	// other than an *[UnreachedError], some changes may have been made.
	Provision(ctx context.Context, in Input) (token string, err error)
	// Status returns the progress of the changes.
	Status(ctx context.Context, token string) (Status, error)
}

// UnreachedError reports that a provisioner could not be called.
type UnreachedError struct{ Err error }

// Error returns the reason.
func (e *UnreachedError) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *UnreachedError) Unwrap() error { return e.Err }

// Details describe the changes of a task.
type Details struct {
	// Text is a description for people.
	Text string `json:"text"`
	// Tasks lists tasks to run after the changes, such as a migration: each is passed as Task of the same input.
	Tasks []string `json:"tasks,omitempty"`
}

// TaskDetails holds the details returned by the provisioner of a task.
type TaskDetails struct {
	// Task is the number of the task.
	Task        int    `json:"task"`
	Provisioner string `json:"provisioner"`
	Details
}

// Status is the progress of a provisioner's changes.
type Status struct {
	State State
	// Message describes what running changes wait for, or why they failed.
	Message string
	// Metadata is stored with resources, by vertex key, once State is Done.
	Metadata map[string]lumigl.Value
}

// State is the state of a provisioner's changes.
type State string

// The states of changes.
const (
	Running State = "running"
	Failed  State = "failed"
	Done    State = "done"
)

// Input is the input of a provisioner: the module's vertices that it handles, before and after the task, in all
// versions, including those pending cleanup.
type Input struct {
	Environment, Module string
	New, Old            []Vertex
	// Context lists the direct dependencies of New that other provisioners handle.
	Context []Vertex
	// Task is one of Details.Tasks, or "" for the changes themselves.
	Task string
}

// String returns the input as "[new] [old]", such as "[module[a::3], module[a::4]] [module[a::3]]".
func (in Input) String() string { return list(in.New) + " " + list(in.Old) }

func list(vertices []Vertex) string {
	all := make([]string, len(vertices))
	for i, v := range vertices {
		all[i] = v.String()
	}
	return "[" + strings.Join(all, ", ") + "]"
}

// Vertex is a vertex of the resource graph: a version of a module, or a resource.
type Vertex struct {
	Version  *graph.Version
	Resource *graph.Resource
}

// String returns the vertex as in diagrams: the last part of its type with module, name, and deployment, such as
// "module[a::1]" or "database[a:foodb:1]".
func (v Vertex) String() string {
	if v.Version != nil {
		return fmt.Sprintf("module[%v]", v.Version.VersionID)
	}
	// The key is "a:aws:rds:Database::foodb:1". The type in it cannot be part of a module name.
	token := v.Resource.Type()
	module, name, _ := strings.Cut(v.Resource.Key(), ":"+string(token)+"::")
	first, size := utf8.DecodeRuneInString(token.Name())
	return fmt.Sprintf("%c%s[%s:%s]", unicode.ToLower(first), token.Name()[size:], module, name)
}

// compare orders vertices: versions by number, then resources by URN and number.
func (v Vertex) compare(w Vertex) int {
	switch {
	case v.Version != nil && w.Version != nil:
		return cmp.Or(cmp.Compare(v.Version.Module, w.Version.Module), cmp.Compare(v.Version.Deployment, w.Version.Deployment))
	case v.Version != nil:
		return -1
	case w.Version != nil:
		return 1
	}
	return cmp.Or(cmp.Compare(v.Resource.URN, w.Resource.URN), cmp.Compare(v.Resource.Deployment, w.Resource.Deployment))
}
