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

// Provisioner makes the changes of a task. Its methods must be idempotent, since tasks are repeated after a crash.
type Provisioner interface {
	// Plan describes the changes without making them.
	Plan(ctx context.Context, in Input) (Details, error)
	// Provision starts the changes and returns a token for Status, or "" if there is nothing to change. If it returns
	// an error other than an *[UnreachedError], some changes may have been made.
	Provision(ctx context.Context, in Input) (token string, err error)
	// Status returns the progress of the changes identified by token.
	Status(ctx context.Context, token string) (Status, error)
}

// UnreachedError reports that a call did not reach the provisioner.
type UnreachedError struct{ Err error }

// Error returns the message of Err.
func (e *UnreachedError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *UnreachedError) Unwrap() error { return e.Err }

// Details describes the changes of a task.
type Details struct {
	// Text is a human-readable description.
	Text string `json:"text"`
	// Tasks lists follow-up tasks, such as migrations. After the changes, the same input is sent with Task set to each
	// of them.
	Tasks []string `json:"tasks,omitempty"`
}

// TaskDetails are the Details of a task, as returned by its provisioner.
type TaskDetails struct {
	// Task is the number of the task.
	Task        int    `json:"task"`
	Provisioner string `json:"provisioner"`
	Details
}

// Status is the progress of a provisioner's changes.
type Status struct {
	State State
	// Message describes what the changes are waiting for, or why they failed.
	Message string
	// Metadata is stored with resources, by vertex key. It is valid if State is Done.
	Metadata map[string]lumigl.Value
}

// State is the state of a provisioner's changes.
type State string

// The possible states of changes.
const (
	Running State = "running"
	Failed  State = "failed"
	Done    State = "done"
)

// Input is the input of a provisioner: its vertices of the module before (Old) and after (New) the task. It includes
// all versions, even those pending cleanup.
type Input struct {
	Environment, Module string
	New, Old            []Vertex
	// Context lists the direct dependencies of New that are handled by other provisioners.
	Context []Vertex
	// Task is an element of Details.Tasks, or "" for the changes themselves.
	Task string
}

// String formats the input as "[new] [old]", such as "[module[a::3], module[a::4]] [module[a::3]]".
func (in Input) String() string { return list(in.New) + " " + list(in.Old) }

func list(vertices []Vertex) string {
	all := make([]string, len(vertices))
	for i, v := range vertices {
		all[i] = v.String()
	}
	return "[" + strings.Join(all, ", ") + "]"
}

// Vertex is a vertex of the resource graph. Either Version or Resource is set.
type Vertex struct {
	Version  *graph.Version
	Resource *graph.Resource
}

// String formats the vertex as the last part of its type with the module, name, and deployment, such as "module[a::1]"
// or "database[a:foodb:1]".
func (v Vertex) String() string {
	if v.Version != nil {
		return fmt.Sprintf("module[%v]", v.Version.VersionID)
	}
	// The key is, for example, "a:aws:rds:Database::foodb:1". The type cannot occur in a module name.
	token := v.Resource.Type()
	module, name, _ := strings.Cut(v.Resource.Key(), ":"+string(token)+"::")
	first, size := utf8.DecodeRuneInString(token.Name())
	return fmt.Sprintf("%c%s[%s:%s]", unicode.ToLower(first), token.Name()[size:], module, name)
}

// compare orders vertices: versions by module and deployment, then resources by URN and deployment.
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
