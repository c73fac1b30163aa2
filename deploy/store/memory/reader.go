package memory

import (
	"errors"

	"github.com/lumi-idl/lumi/deploy/store"
)

// reader is a read-only transaction.
type reader struct{ *tx }

var errReadOnly = errors.New("cannot write in a read-only transaction")

func (reader) PutEnvironment(store.Environment) error             { return errReadOnly }
func (reader) DeleteEnvironment(string) error                     { return errReadOnly }
func (reader) PutVertices(string, []store.Vertex, []string) error { return errReadOnly }
func (reader) PutJob(store.Job) error                             { return errReadOnly }
func (reader) PutContent(int64, store.Content) error              { return errReadOnly }
func (reader) Touch(int64, int64, ...store.State) (store.Job, error) {
	return store.Job{}, errReadOnly
}
func (reader) PutTask(store.Task) error                { return errReadOnly }
func (reader) DeleteTasks(int64) error                 { return errReadOnly }
func (reader) PutStep(store.Step) error                { return errReadOnly }
func (reader) DeleteSteps(int64, ...store.State) error { return errReadOnly }
func (reader) MoveSteps(int64, int64) error            { return errReadOnly }
func (reader) PutWorker(store.Worker) error            { return errReadOnly }
func (reader) DeleteWorker(string, string) error       { return errReadOnly }
func (reader) AddEvents(string, []store.Event) error   { return errReadOnly }
func (reader) AddJob(store.Job, store.Content) (int64, error) {
	return 0, errReadOnly
}
func (reader) AddRelease(store.Release) (int64, error)     { return 0, errReadOnly }
func (reader) DeleteRelease(int64) error                   { return errReadOnly }
func (reader) PutSelection(store.Selection) error          { return errReadOnly }
func (reader) AddGraph(store.TaskGraph) (int64, error)     { return 0, errReadOnly }
func (reader) PutGraph(store.TaskGraph) error              { return errReadOnly }
func (reader) DeleteGraph(int64) error                     { return errReadOnly }
func (reader) AddGraphTask(store.GraphTask) (int64, error) { return 0, errReadOnly }
func (reader) DeleteGraphTask(int64) error                 { return errReadOnly }
func (reader) PutTaskRuns(int64, []store.TaskRun) error    { return errReadOnly }
