// Package store keeps environments: their resource graphs, deployments with tasks and steps, and events.
//
//	err := s.Write(ctx, "prod", func(tx store.Tx) error {
//		if _, err := tx.Touch(id, fence, store.Running); err != nil {
//			return err // another executor has taken over
//		}
//		return tx.PutStep(step)
//	})
//
// Secrets in the text of vertices, steps and deployments are sealed by package secret. A store does not look at text, and does
// not check which states follow each other, which package run does.
//
// Package sqlite is the store of `.lumi/state.db`, package memory one for tests, and package storetest has the tests that
// each implementation must pass. The package follows docs/engine.md.
package store

import (
	"context"
	"errors"
	"time"
)

// Store keeps environments. Its methods may be called concurrently, from several processes where the implementation has
// state that outlives one.
type Store interface {
	// Read runs f with a consistent view of the store. It does not wait for writers. Statements that write fail.
	Read(ctx context.Context, f func(Tx) error) error
	// Write runs f in a transaction that excludes other writers of the environment, or "" for rows that no environment owns. What
	// f wrote is durable once Write returns nil. If f or the commit fails, nothing was written. f may run more than once, so it
	// must assign what it captures, not append to it.
	Write(ctx context.Context, environment string, f func(Tx) error) error
	// Close releases the store.
	Close() error
}

// The errors of statements, perhaps wrapped.
var (
	// ErrNotFound says that there is no such environment or deployment.
	ErrNotFound = errors.New("not found")
	// ErrFenced says that an executor lost its deployment: the row has another fencing token or state.
	ErrFenced = errors.New("another executor has taken over")
	// ErrLost says that somebody removed the store while it was open. Write returns it after the commit: the transaction is
	// in what Close saves, so it must not be repeated. Writes still work, to end what was begun. Reads may fail with it.
	ErrLost = errors.New("the store was removed")
)

// Tx is a transaction. Its statements must not be called concurrently, nor after f has returned. Where the environment of
// a row does not exist, a statement that writes the row fails with [ErrNotFound]. f returns any error that is neither that nor
// [ErrFenced]. Times are kept in UTC, to the microsecond. Text must be valid UTF-8.
type Tx interface {
	EnvironmentTx
	GraphTx
	JobTx
	EventTx
	TaskTx
}

// EnvironmentTx has the statements about environments.
type EnvironmentTx interface {
	// Environments returns all environments, sorted by name.
	Environments() ([]Environment, error)
	// Environment returns an environment.
	Environment(name string) (Environment, error)
	// PutEnvironment adds or replaces an environment.
	PutEnvironment(Environment) error
	// DeleteEnvironment deletes an environment with everything in it.
	DeleteEnvironment(name string) error
}

// GraphTx has the statements about resource graphs.
type GraphTx interface {
	// Vertices returns the vertices of an environment's resource graph, sorted by key.
	Vertices(environment string) ([]Vertex, error)
	// VerticesFrom returns up to limit vertices, sorted by key, starting with the first key that is not below from.
	VerticesFrom(environment, from string, limit int) ([]Vertex, error)
	// PutVertices adds or replaces vertices, deletes those with the keys in gone, and counts up the environment's Serial.
	PutVertices(environment string, put []Vertex, gone []string) error
}

// JobTx has the statements about jobs, with the tasks and steps of deployments.
type JobTx interface {
	// AddJob adds a job and returns its ID, which is greater than those of all jobs before. A Place of 0 becomes the ID.
	AddJob(Job, Content) (id int64, err error)
	// Job returns a job, and Content what it was asked to do. PutContent replaces that, sealed with another key.
	Job(id int64) (Job, error)
	Content(id int64) (Content, error)
	PutContent(id int64, c Content) error
	// Queue returns the jobs of an environment that are not in a final state, by place and ID. History returns up to limit
	// of the others with an ID below before, the latest first; a before of 0 is no bound. Both leave runs of task graphs out.
	Queue(environment string) ([]Job, error)
	History(environment string, before int64, limit int) ([]Job, error)
	// PutJob replaces a job.
	PutJob(Job) error
	// Touch returns a job. It fails with [ErrFenced] unless that has the fencing token and one of the states. It locks
	// the row for the rest of the transaction.
	Touch(id, fence int64, states ...State) (Job, error)

	// Tasks and Steps return those of a deployment, by number. PutTask and PutStep add or replace one. DeleteSteps deletes
	// all steps of a deployment that are not in one of the states, and DeleteTasks all tasks.
	Tasks(deployment int64) ([]Task, error)
	PutTask(Task) error
	DeleteTasks(deployment int64) error
	Steps(deployment int64) ([]Step, error)
	PutStep(Step) error
	DeleteSteps(deployment int64, except ...State) error
	// MoveSteps makes the steps of a deployment those of another one, which must have none.
	MoveSteps(from, to int64) error
}

// EventTx has the statements about events.
type EventTx interface {
	// AddEvents adds events, which must not be changed any more. Events returns up to limit events of an environment, or of one
	// deployment if that is not 0, with a serial above after, oldest first.
	AddEvents(environment string, events []Event) error
	Events(environment string, deployment, after int64, limit int) ([]Event, error)
}

// Environment is an environment, such as prod.
type Environment struct {
	Name string
	// Lineage tells environments of one name apart. Seeds of generated values derive from it.
	Lineage string
	// Key is the environment's data key, wrapped, or "" if it has none.
	Key string
	// Serial counts the changes of the resource graph.
	Serial int64
	// Last is the number of the last deployment.
	Last int64
}

// Vertex is a vertex of the resource graph: a key, and the properties in LumiGL.
type Vertex struct{ Key, Text string }

// State is the state of a deployment, a task or a step. Package run has the transitions between states.
type State string

// The states of deployments, tasks and steps. Wait is that of deployments and tasks that have not started, Planned that of
// such steps, which are not stored.
const (
	Wait    State = "WAIT"
	Running State = "RUNNING"
	Done    State = "DONE"
	Failed  State = "FAILED"

	Ask        State = "ASK"
	Aborting   State = "ABORTING"
	Aborted    State = "ABORTED"
	Canceled   State = "CANCELLED"
	Superseded State = "SUPERSEDED"

	Polling State = "POLLING"

	Planned State = "PLANNED"
	Started State = "STARTED"
	Unknown State = "UNKNOWN"
	Skipped State = "SKIPPED"
	Pending State = "PENDING"
)

// IsFinal reports whether a deployment with the state has left the queue.
func (s State) IsFinal() bool {
	return s == Done || s == Aborted || s == Canceled || s == Superseded
}

// Kind is the kind of a job.
type Kind string

// The kinds of jobs. All but runs of task graphs are called deployments.
const (
	Deploy  Kind = "deploy"
	Cleanup Kind = "cleanup" // deletes what nothing needs any more
	Destroy Kind = "destroy" // removes a module
	Edit    Kind = "edit"    // a change of the state by a user
	Tasks   Kind = "tasks"   // runs a task graph
)

// Job is what one process at a time does for an environment.
type Job struct {
	ID          int64
	Environment string
	// Number is that of users, such as 5 in a[5]; 0 for a cleanup.
	Number int64
	Module string
	Kind   Kind
	// Uses has the modules that desired state uses directly.
	Uses []string
	// Place is the place in the queue: a deployment that supersedes a failed one takes its place.
	Place int64
	State State
	// Fence is the fencing token: it counts the claims, retries and the like.
	Fence int64
	// Owner is the process that holds the lease until Expires. It is zero if the lease was released.
	Owner   string
	Expires time.Time
	// Abort is set once the deployment is to be aborted.
	Abort bool
	// Message says why the deployment failed, or what it asks.
	Message string
	// Created is when it was queued, and Ended when it reached a final state, or zero.
	Created, Ended time.Time
}

// Content is what a job was asked to do, which does not change.
type Content struct {
	// Desired is the desired state in LumiGL, empty for cleanups and destroys.
	Desired string
	// Shown has the effects of the plan that was agreed to, in LumiGL.
	Shown string
	// Request has the rest of the request, as package run encodes it.
	Request string
}

// Task is a task of a running deployment.
type Task struct {
	Deployment  int64
	Number      int
	Provisioner string
	// Steps is how many steps the task has.
	Steps int
	State State
	// Token is what the provisioner is polled with, and Parts how many inputs the provisioner gets one after another: those of
	// migrations and the like come after that of the task.
	Token   string
	Parts   int
	Message string
}

// Step is a step whose call has started. Until the resource graph has its result, the row is the only record of it.
type Step struct {
	Deployment int64
	Number     int
	Task       int
	State      State
	// Kind is that of package plan, such as "create".
	Kind string
	// URN is the resource's.
	URN string
	// OldKey and OldID identify the vertex that is changed or deleted, and are empty for a creation.
	OldKey, OldID string
	// New is the resource as it becomes, as a vertex in LumiGL; empty for a deletion.
	New string
	// Token identifies a creation to its provider.
	Token string
	// Owner is the process that makes or made the call, and Deadline is when the call ends at the latest.
	Owner    string
	Deadline time.Time
	Message  string
}

// Event is a change of state or a message. The history, the terminal and the JSON output show it.
type Event struct {
	// Serial counts the events of all environments. It is 0 for events that are not stored, such as progress.
	Serial int64     `json:"serial,omitempty"`
	Time   time.Time `json:"time"`
	// Deployment is its ID, and Name what users call it, such as "a[5]".
	Deployment int64  `json:"deployment"`
	Name       string `json:"name"`
	// Task is the number of the task, and 0 for an event of the deployment. URN is set for an event of a step.
	Task int    `json:"task,omitempty"`
	URN  string `json:"urn,omitempty"`
	// Source is where the program constructs the resource.
	Source string `json:"source,omitempty"`
	// Kind is the kind of the step. Was is the former URN of a resource that moved, and ID that of a resource that exists.
	Kind string `json:"kind,omitempty"`
	Was  string `json:"was,omitempty"`
	ID   string `json:"id,omitempty"`
	// State is the new state, or empty if the event is a message of a provider.
	State State `json:"state,omitempty"`
	// Level is the level of a provider's message: "debug", "info", "warn", "error" or "progress".
	Level   string `json:"level,omitempty"`
	Message string `json:"message,omitempty"`
}
