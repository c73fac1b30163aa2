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

// Provisioner makes the changes of a task. Its methods are idempotent, so that a task can be repeated after a crash.
type Provisioner interface {
	// Plan describes the changes, and makes none.
	Plan(ctx context.Context, in Input) (Details, error)
	// Provision starts the changes, and returns a token to poll, or "" if there is nothing to change. After an error,
	// something may have been changed unless that is an *[UnreachedError].
	Provision(ctx context.Context, in Input) (token string, err error)
	// Status returns how far the changes are.
	Status(ctx context.Context, token string) (Status, error)
}

// UnreachedError is why a provisioner could not be called.
type UnreachedError struct{ Err error }

// Error returns the reason.
func (e *UnreachedError) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *UnreachedError) Unwrap() error { return e.Err }

// Details describe the changes of a task.
type Details struct {
	// Text is for people.
	Text string `json:"text"`
	// Tasks are to run after the changes, such as a migration: each is the Task of the same input.
	Tasks []string `json:"tasks,omitempty"`
}

// TaskDetails are what the provisioner of a task returned.
type TaskDetails struct {
	// Task is the number of the task.
	Task        int    `json:"task"`
	Provisioner string `json:"provisioner"`
	Details
}

// Status is how far a provisioner is with its changes.
type Status struct {
	State State
	// Message says what running changes wait for, or why they failed.
	Message string
	// Metadata has what to store with resources, by the keys of their vertices, once State is Done.
	Metadata map[string]lumigl.Value
}

// State is the state of a provisioner's changes.
type State string

// The states.
const (
	Running State = "running"
	Failed  State = "failed"
	Done    State = "done"
)

// Input is what a provisioner is to change: the vertices of a module that it handles, in all versions, including those that
// wait for a cleanup, as the graph is after the task and before it.
type Input struct {
	Environment, Module string
	New, Old            []Vertex
	// Context has the vertices of other types that those in New depend on directly.
	Context []Vertex
	// Task is one of [Details], or "" for the changes themselves.
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

// String returns the vertex as diagrams have it: the last part of its type with module, name and deployment, such as
// "module[a::1]" or "database[a:foodb:1]".
func (v Vertex) String() string {
	if v.Version != nil {
		return fmt.Sprintf("module[%v]", v.Version.VersionID)
	}
	// The key is "a:aws:rds:Database::foodb:1", and the type in it a part that a module cannot have.
	token := v.Resource.Type()
	module, name, _ := strings.Cut(v.Resource.Key(), ":"+string(token)+"::")
	first, size := utf8.DecodeRuneInString(token.Name())
	return fmt.Sprintf("%c%s[%s:%s]", unicode.ToLower(first), token.Name()[size:], module, name)
}

// compare orders vertices: versions by their numbers, then resources by their URNs and numbers.
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
