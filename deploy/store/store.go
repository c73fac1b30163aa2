// Package store defines the storage interface for environments: resource graphs, deployments with tasks and steps, and
// events.
//
//	err := s.Write(ctx, "prod", func(tx store.Tx) error {
//		if _, err := tx.Touch(id, fence, store.Running); err != nil {
//			return err // another executor has taken over
//		}
//		return tx.PutStep(step)
//	})
//
// Secrets in the text of vertices, steps, and deployments are sealed by package secret. A store does not parse text and
// does not check state transitions, which are defined by package job.
//
// Package sqlite implements a store in `.lumi/state.db`, and package memory implements one for tests. Package storetest
// contains tests for implementations. See docs/engine.md for the design.
package store

import (
	"context"
	"errors"
	"time"
)

// Store stores environments. It is safe for concurrent use. Persistent stores may be used by several processes at once.
type Store interface {
	// Read runs f with a consistent view of the store. It does not wait for writers. Statements that write return an
	// error. Like that of Write, f may run more than once.
	Read(ctx context.Context, f func(Tx) error) error
	// Write runs f in a transaction that excludes other writers of the environment. For rows that do not belong to an
	// environment, pass "". When Write returns nil, the changes are durable. After any other error than [ErrLost] and
	// [ErrUncertain], nothing was written. f may run more than once, so it must overwrite captured variables rather than
	// append to them.
	Write(ctx context.Context, environment string, f func(Tx) error) error
	// Watch calls f with the names of environments that other processes may have changed, until ctx is done. Not every store
	// learns of changes, and some may be missed, so callers must also poll.
	Watch(ctx context.Context, f func(environment string))
	// Close releases the store's resources.
	Close() error
}

// Errors returned by statements, possibly wrapped.
var (
	// ErrNotFound means that an environment, a deployment, or another row was not found.
	ErrNotFound = errors.New("not found")
	// ErrFenced means that an executor no longer holds its deployment, whose fencing token or state has changed.
	ErrFenced = errors.New("another executor has taken over")
	// ErrLost means that the store was removed while it was open. Write returns it after committing. The transaction
	// must not be repeated, since the copy saved by Close contains it. Subsequent writes still commit, so that running
	// work can finish. Reads may return ErrLost.
	ErrLost = errors.New("the store was removed")
	// ErrUncertain means that the answer to a commit was lost, so the changes may or may not be durable. An executor must
	// stop, as after any other error. The process that continues its work reads what was committed.
	ErrUncertain = errors.New("the store did not answer, so the changes may or may not be saved")
	// ErrCopied means that the store is a copy or a restored backup, which cannot be written to before it is adopted.
	ErrCopied = errors.New("the store is a copy")
)

// CopiedError reports a write to a copy, and wraps [ErrCopied].
type CopiedError struct{ Name string }

// Error describes the problem and how to recover.
func (e *CopiedError) Error() string {
	return e.Name + " is a copy of a state or was restored from a backup, so it can only be read: if nothing uses the original, " +
		"run 'lumi state adopt'"
}

// Unwrap returns [ErrCopied].
func (e *CopiedError) Unwrap() error { return ErrCopied }

// Tx is a transaction. It must not be used concurrently or after f has returned. Writing a row of a nonexistent
// environment, or of an environment other than that of the write, returns [ErrNotFound]. f must return all errors except
// [ErrNotFound] and [ErrFenced]. Times are stored in UTC with microsecond precision. Text must be valid UTF-8 without NUL.
type Tx interface {
	// Now returns the time of the transaction by the store's clock, which all processes share. Leases, deadlines, and
	// expirations use it instead of the local clock.
	Now() time.Time
	EnvironmentTx
	GraphTx
	JobTx
	WorkerTx
	EventTx
	TaskTx
}

// EnvironmentTx contains statements for environments.
type EnvironmentTx interface {
	// Environments returns all environments, sorted by name.
	Environments() ([]Environment, error)
	// Environment returns the environment with the given name.
	Environment(name string) (Environment, error)
	// PutEnvironment adds or replaces an environment.
	PutEnvironment(Environment) error
	// DeleteEnvironment deletes an environment along with everything in it.
	DeleteEnvironment(name string) error
}

// GraphTx contains statements for resource graphs.
type GraphTx interface {
	// Vertices returns the vertices of an environment's resource graph, sorted by key.
	Vertices(environment string) ([]Vertex, error)
	// VerticesFrom returns up to limit vertices whose keys are at least from, sorted by key.
	VerticesFrom(environment, from string, limit int) ([]Vertex, error)
	// PutVertices adds or replaces the vertices in put, deletes the vertices with keys in gone, and increments the
	// environment's Serial.
	PutVertices(environment string, put []Vertex, gone []string) error
}

// JobTx contains statements for jobs and for the tasks and steps of deployments.
type JobTx interface {
	// AddJob adds a job and returns its ID, which is greater than all earlier IDs. If Place is 0, it is set to the ID.
	AddJob(Job, Content) (id int64, err error)
	// Job returns a job, and Content returns its content. PutContent replaces the content when it is resealed.
	Job(id int64) (Job, error)
	Content(id int64) (Content, error)
	PutContent(id int64, c Content) error
	// Queue returns the unfinished deployments of an environment, sorted by place and ID. History returns up to limit
	// finished deployments, latest first. If before is not 0, History returns only deployments with lower IDs. Runs of
	// task graphs are not included in either.
	Queue(environment string) ([]Job, error)
	History(environment string, before int64, limit int) ([]Job, error)
	// Ready returns up to limit jobs that no process holds, with IDs greater than after, sorted by ID: they are waiting, or
	// running or being aborted, and their leases have expired or were released. Only environments whose names start with
	// prefix are included. Whether a job can start also depends on the rest of the queue.
	Ready(prefix string, after int64, limit int) ([]Job, error)
	// PutJob replaces a job. It returns [ErrNotFound] if the job is not in j.Environment, since jobs do not change environments.
	PutJob(j Job) error
	// Touch returns a job and locks its row until the end of the transaction. It returns [ErrFenced] if the job has a
	// different fencing token or is in none of the states.
	Touch(id, fence int64, states ...State) (Job, error)

	// Tasks and Steps return the tasks and steps of a deployment, sorted by number. PutTask and PutStep add or replace
	// a row. DeleteTasks deletes all tasks of a deployment. DeleteSteps deletes all steps except those in one of the
	// given states.
	Tasks(deployment int64) ([]Task, error)
	PutTask(Task) error
	DeleteTasks(deployment int64) error
	Steps(deployment int64) ([]Step, error)
	PutStep(Step) error
	DeleteSteps(deployment int64, except ...State) error
	// MoveSteps moves all steps of a deployment to another deployment, which must not have any.
	MoveSteps(from, to int64) error

	// Prune deletes jobs of an environment with their tasks, steps, task runs, and events. It keeps runs that LastTaskRuns
	// needs and ignores missing jobs. deleted is the number of deleted jobs.
	Prune(environment string, jobs []int64) (deleted int, err error)
}

// WorkerTx contains statements for the processes that run jobs.
type WorkerTx interface {
	// Workers returns the workers of an environment, sorted by owner. PutWorker adds or replaces a worker. DeleteWorker
	// ignores missing workers.
	Workers(environment string) ([]Worker, error)
	PutWorker(Worker) error
	DeleteWorker(environment, owner string) error
}

// EventTx contains statements for events.
type EventTx interface {
	// AddEvents adds events, which the caller must not modify afterward. Events returns up to limit events of an
	// environment with serials greater than after, oldest first. If deployment is not 0, only its events are returned.
	AddEvents(environment string, events []Event) error
	Events(environment string, deployment, after int64, limit int) ([]Event, error)
}

// Environment is a deployment target, such as prod.
type Environment struct {
	Name string
	// Lineage distinguishes environments with the same name. The seeds of generated values are derived from it.
	Lineage string
	// Key is the wrapped data key of the environment, or "" if it has none.
	Key string
	// Serial is incremented with each change to the resource graph.
	Serial int64
	// Last is the number of the last deployment.
	Last int64
}

// Vertex is a vertex of the resource graph. Text holds its properties in LumiGL.
type Vertex struct{ Key, Text string }

// State is the state of a job, a task, or a step. Package job defines the valid transitions.
type State string

// States of jobs, tasks, and steps. Deployments and tasks that have not started are in state Wait. Steps that have not
// started are in state Planned and are not stored.
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

// IsFinal reports whether a deployment in this state is no longer in the queue.
func (s State) IsFinal() bool {
	return s == Done || s == Aborted || s == Canceled || s == Superseded
}

// Kind is the kind of a job.
type Kind string

// Kinds of jobs. A job of any kind except Tasks is called a deployment.
const (
	Deploy  Kind = "deploy"
	Cleanup Kind = "cleanup" // deletes unused versions and pending resources
	Destroy Kind = "destroy" // removes a module
	Edit    Kind = "edit"    // changes the state without calling providers
	Tasks   Kind = "tasks"   // runs a task graph
)

// Job is a unit of work in an environment. It is run by one process at a time.
type Job struct {
	ID          int64
	Environment string
	// Number is the number shown to users, such as 5 in a[5]. It is 0 for a cleanup.
	Number int64
	Module string
	Kind   Kind
	// Uses lists the modules that the desired state uses directly.
	Uses []string
	// Place is the position in the queue. A deployment that supersedes a failed one takes over its place.
	Place int64
	State State
	// Fence is the fencing token. It is incremented whenever the job is claimed or taken away from its holder.
	Fence int64
	// Owner is the process that holds the lease until Expires. Expires is zero if the lease was released.
	Owner   string
	Expires time.Time
	// Abort is set if an abort was requested.
	Abort bool
	// Message is the reason for a failure, or the question of a deployment that is waiting for an answer.
	Message string
	// Created is the time at which the job was queued. Ended is the time at which it reached a final state, or zero.
	Created, Ended time.Time
}

// Worker is a process that runs jobs of an environment.
type Worker struct {
	Environment string
	// Owner identifies the process, as in Job.Owner.
	Owner string
	// Host is the host name, and Boot identifies the boot of the host. Boot is "" if the system does not provide it.
	Host, Boot string
	// Seen is the time of the last heartbeat.
	Seen time.Time
	// Draining is set if the process starts no new work.
	Draining bool
}

// Content is the request of a job. It is immutable except for resealing.
type Content struct {
	// Desired is the desired state in LumiGL. It is empty for cleanups and destroys.
	Desired string
	// Shown is the list of effects of the approved plan in LumiGL.
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
	// Token is the token for polling the provisioner. Parts is the number of inputs to send to the provisioner in
	// order: the task itself, followed by additional tasks such as migrations.
	Token   string
	Parts   int
	Message string
}

// Step is a step whose call has started. Until the resource graph contains the result, the row is its only record.
type Step struct {
	Deployment int64
	Number     int
	Task       int
	State      State
	// Kind is the name of a plan.Kind, such as "create".
	Kind string
	// URN identifies the resource.
	URN string
	// OldKey and OldID identify the vertex to change or delete. Both are empty for a creation.
	OldKey, OldID string
	// New is the new resource, encoded as a vertex in LumiGL. It is empty for a deletion.
	New string
	// Token identifies the call, in all its attempts, to the provider. It is empty for an update or deletion that an
	// older version of the engine recorded.
	Token string
	// Owner is the process that made the call. Deadline is the latest time at which the call can end.
	Owner    string
	Deadline time.Time
	Message  string
}

// Event is a state change or a message, as recorded in the history and shown to users.
type Event struct {
	// Serial is the sequence number across all environments. It is 0 for events that are not stored, such as progress.
	Serial int64     `json:"serial,omitempty"`
	Time   time.Time `json:"time"`
	// Deployment is the ID of the deployment. Name is its display name, such as "a[5]".
	Deployment int64  `json:"deployment"`
	Name       string `json:"name"`
	// Task is the number of the task, or 0 for an event of the deployment itself. URN is set for events of steps.
	Task int    `json:"task,omitempty"`
	URN  string `json:"urn,omitempty"`
	// Source is the position in the program at which the resource is constructed.
	Source string `json:"source,omitempty"`
	// Kind is the kind of the step. Was is the previous URN of a moved resource. ID is the ID of an existing resource.
	Kind string `json:"kind,omitempty"`
	Was  string `json:"was,omitempty"`
	ID   string `json:"id,omitempty"`
	// State is the new state. It is empty for messages from providers.
	State State `json:"state,omitempty"`
	// Level is the level of a provider's message: "debug", "info", "warn", "error", or "progress". A tolerated failure has
	// the level "warn".
	Level   string `json:"level,omitempty"`
	Message string `json:"message,omitempty"`
}
