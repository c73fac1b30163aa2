// Package store defines the storage of environments: resource graphs, deployments with tasks and steps, and events.
//
//	err := s.Write(ctx, "prod", func(tx store.Tx) error {
//		if _, err := tx.Touch(id, fence, store.Running); err != nil {
//			return err // another executor has taken over
//		}
//		return tx.PutStep(step)
//	})
//
// Secrets in the text of vertices, steps, and deployments are sealed by package secret. A store neither parses text nor
// checks state transitions; package job does the latter.
//
// Package sqlite implements the store in `.lumi/state.db`; package memory implements one for tests. Package storetest
// tests implementations. See docs/engine.md for the design.
package store

import (
	"context"
	"errors"
	"time"
)

// Store stores environments. It is safe for concurrent use, in persistent implementations also by several processes.
type Store interface {
	// Read runs f with a consistent view of the store. It does not wait for writers. Writing statements fail.
	Read(ctx context.Context, f func(Tx) error) error
	// Write runs f in a transaction that excludes other writers of the environment. Pass "" for rows that belong to no
	// environment. The changes are durable when Write returns nil. If f or the commit fails, nothing is written. f may
	// run more than once, so it must assign to captured variables, not append to them.
	Write(ctx context.Context, environment string, f func(Tx) error) error
	// Close releases the store.
	Close() error
}

// Errors of statements, possibly wrapped.
var (
	// ErrNotFound means that an environment, a deployment, or another row does not exist.
	ErrNotFound = errors.New("not found")
	// ErrFenced means that an executor lost its deployment: the row has a different fencing token or state.
	ErrFenced = errors.New("another executor has taken over")
	// ErrLost means that the store was removed while open. Write returns it after the commit: the copy saved by Close
	// contains the transaction, so it must not be repeated. Later writes still succeed, to finish running work. Reads
	// may fail with it.
	ErrLost = errors.New("the store was removed")
)

// Tx is a transaction. It must not be used concurrently or after f has returned. Writing a row of a nonexistent
// environment fails with [ErrNotFound]. f must return all errors except [ErrNotFound] and [ErrFenced]. Times are stored
// in UTC with microsecond precision. Text must be valid UTF-8.
type Tx interface {
	EnvironmentTx
	GraphTx
	JobTx
	EventTx
	TaskTx
}

// EnvironmentTx contains the statements for environments.
type EnvironmentTx interface {
	// Environments returns all environments, sorted by name.
	Environments() ([]Environment, error)
	// Environment returns an environment.
	Environment(name string) (Environment, error)
	// PutEnvironment adds or replaces an environment.
	PutEnvironment(Environment) error
	// DeleteEnvironment deletes an environment and everything in it.
	DeleteEnvironment(name string) error
}

// GraphTx contains the statements for resource graphs.
type GraphTx interface {
	// Vertices returns the vertices of an environment's resource graph, sorted by key.
	Vertices(environment string) ([]Vertex, error)
	// VerticesFrom returns up to limit vertices with keys of at least from, sorted by key.
	VerticesFrom(environment, from string, limit int) ([]Vertex, error)
	// PutVertices adds or replaces vertices, deletes those with keys in gone, and increments the environment's Serial.
	PutVertices(environment string, put []Vertex, gone []string) error
}

// JobTx contains the statements for jobs, and for the tasks and steps of deployments.
type JobTx interface {
	// AddJob adds a job and returns its ID, which is greater than all earlier IDs. A Place of 0 is set to the ID.
	AddJob(Job, Content) (id int64, err error)
	// Job returns a job and Content its content. PutContent replaces the content, for resealing.
	Job(id int64) (Job, error)
	Content(id int64) (Content, error)
	PutContent(id int64, c Content) error
	// Queue returns the unfinished deployments of an environment, by place and ID. History returns up to limit finished
	// ones with IDs below before, latest first; 0 means no bound. Both omit runs of task graphs.
	Queue(environment string) ([]Job, error)
	History(environment string, before int64, limit int) ([]Job, error)
	// PutJob replaces a job.
	PutJob(Job) error
	// Touch returns a job and locks its row for the rest of the transaction. It fails with [ErrFenced] unless the job
	// has the fencing token and one of the states.
	Touch(id, fence int64, states ...State) (Job, error)

	// Tasks and Steps return the tasks and steps of a deployment, by number. PutTask and PutStep add or replace one.
	// DeleteTasks deletes all tasks of a deployment, DeleteSteps all steps except those in one of the states.
	Tasks(deployment int64) ([]Task, error)
	PutTask(Task) error
	DeleteTasks(deployment int64) error
	Steps(deployment int64) ([]Step, error)
	PutStep(Step) error
	DeleteSteps(deployment int64, except ...State) error
	// MoveSteps moves the steps of a deployment to another one, which must have none.
	MoveSteps(from, to int64) error
}

// EventTx contains the statements for events.
type EventTx interface {
	// AddEvents adds events, which must not be changed afterward. Events returns up to limit events of an environment
	// with serials above after, oldest first. If deployment is not 0, it returns only events of that deployment.
	AddEvents(environment string, events []Event) error
	Events(environment string, deployment, after int64, limit int) ([]Event, error)
}

// Environment is an environment, such as prod.
type Environment struct {
	Name string
	// Lineage distinguishes environments of the same name. Seeds of generated values derive from it.
	Lineage string
	// Key is the environment's wrapped data key, or "".
	Key string
	// Serial is incremented by each change of the resource graph.
	Serial int64
	// Last is the number of the last deployment.
	Last int64
}

// Vertex is a vertex of the resource graph: a key and the properties in LumiGL.
type Vertex struct{ Key, Text string }

// State is the state of a job, a task, or a step. Package job defines the transitions.
type State string

// States of jobs, tasks, and steps. Unstarted deployments and tasks are in Wait. Unstarted steps are in Planned and not
// stored.
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

// IsFinal reports whether a deployment in this state has left the queue.
func (s State) IsFinal() bool {
	return s == Done || s == Aborted || s == Canceled || s == Superseded
}

// Kind is the kind of a job.
type Kind string

// Kinds of jobs. All except runs of task graphs are called deployments.
const (
	Deploy  Kind = "deploy"
	Cleanup Kind = "cleanup" // deletes unused versions and pending resources
	Destroy Kind = "destroy" // removes a module
	Edit    Kind = "edit"    // changes the state without calling providers
	Tasks   Kind = "tasks"   // runs a task graph
)

// Job is a unit of work for an environment, run by one process at a time.
type Job struct {
	ID          int64
	Environment string
	// Number is the number shown to users, such as 5 in a[5]; 0 for a cleanup.
	Number int64
	Module string
	Kind   Kind
	// Uses lists the modules used directly by desired state.
	Uses []string
	// Place is the position in the queue. A deployment that supersedes a failed one inherits it.
	Place int64
	State State
	// Fence is the fencing token, incremented whenever the job is claimed or taken away from its holder.
	Fence int64
	// Owner is the process that holds the lease until Expires, which is zero if the lease was released.
	Owner   string
	Expires time.Time
	// Abort is set when an abort was requested.
	Abort bool
	// Message is the reason for a failure, or the question of a deployment that waits for an answer.
	Message string
	// Created is when the job was queued. Ended is when it reached a final state, or zero.
	Created, Ended time.Time
}

// Content is the request of a job. It changes only when it is resealed.
type Content struct {
	// Desired is the desired state in LumiGL; empty for cleanups and destroys.
	Desired string
	// Shown lists the effects of the approved plan in LumiGL.
	Shown string
	// Request is the rest of the request, encoded by package run.
	Request string
}

// Task is a task of a running deployment.
type Task struct {
	Deployment  int64
	Number      int
	Provisioner string
	// Steps is the number of steps.
	Steps int
	State State
	// Token is the token for polling the provisioner. Parts is the number of inputs to pass to the provisioner, one
	// after another: the task itself, then additional tasks such as migrations.
	Token   string
	Parts   int
	Message string
}

// Step is a step whose call has started. Its row is the only record of the result until the resource graph contains it.
type Step struct {
	Deployment int64
	Number     int
	Task       int
	State      State
	// Kind is the kind of step in package plan, such as "create".
	Kind string
	// URN is the URN of the resource.
	URN string
	// OldKey and OldID identify the vertex to change or delete; empty for a creation.
	OldKey, OldID string
	// New is the new resource as a vertex in LumiGL; empty for a deletion.
	New string
	// Token identifies a creation to its provider.
	Token string
	// Owner is the process that made the call. Deadline is the latest time at which the call ends.
	Owner    string
	Deadline time.Time
	Message  string
}

// Event is a change of state or a message, for the history, the terminal, and the JSON output.
type Event struct {
	// Serial is the sequence number over all environments; 0 for events that are not stored, such as progress.
	Serial int64     `json:"serial,omitempty"`
	Time   time.Time `json:"time"`
	// Deployment is the ID of the deployment, and Name its display name, such as "a[5]".
	Deployment int64  `json:"deployment"`
	Name       string `json:"name"`
	// Task is the number of the task; 0 for an event of the deployment. URN is set for events of steps.
	Task int    `json:"task,omitempty"`
	URN  string `json:"urn,omitempty"`
	// Source is the position of the resource's construction in the program.
	Source string `json:"source,omitempty"`
	// Kind is the kind of the step. Was is the former URN of a moved resource. ID is the ID of an existing resource.
	Kind string `json:"kind,omitempty"`
	Was  string `json:"was,omitempty"`
	ID   string `json:"id,omitempty"`
	// State is the new state; empty for messages of providers.
	State State `json:"state,omitempty"`
	// Level is the level of a provider's message: "debug", "info", "warn", "error" or "progress".
	Level   string `json:"level,omitempty"`
	Message string `json:"message,omitempty"`
}
