package job

import (
	"fmt"
	"slices"

	"github.com/lumi-idl/lumi/deploy/store"
)

// Transition is an allowed change from one state to another.
type Transition struct {
	From store.State
	To   store.State
	// When describes the condition. It is used in the tables of docs/engine.md.
	When string
}

// Transitions lists the allowed transitions of a kind of row.
type Transitions []Transition

// Transitions of deployments, task-graph runs, and the tasks and steps of deployments. A transition is made in a single
// transaction.
var (
	Deployments = Transitions{
		{store.Wait, store.Running, "claimed with a new fencing token; no related deployment is ahead of it"},
		{store.Wait, store.Aborting, "abort after taking over from a failed deployment; retry of an abort"},
		{store.Wait, store.Canceled, "abort before it started"},
		{store.Running, store.Running, "claimed again after the lease expired or was released"},
		{store.Running, store.Done, "all tasks are done; cleanups are queued"},
		{store.Running, store.Failed, "a step or a task failed, or the module cannot be planned"},
		{store.Running, store.Ask, "the plan exceeds the approved one, the key is missing, or it is unknown whether a resource was created"},
		{store.Running, store.Aborting, "abort: the owner stops between steps, or its lease has expired"},
		{store.Ask, store.Wait, "retry, or an answer"},
		{store.Ask, store.Superseded, "replaced by another deployment of the module"},
		{store.Ask, store.Aborting, "abort"},
		{store.Failed, store.Wait, "retry"},
		{store.Failed, store.Superseded, "replaced by another deployment of the module"},
		{store.Failed, store.Aborting, "abort"},
		{store.Aborting, store.Aborting, "claimed, or claimed again after the lease expired"},
		{store.Aborting, store.Aborted, "a cleanup of the resources it created is queued"},
		{store.Aborting, store.Done, "the module's new version was already in the resource graph"},
		{store.Aborting, store.Failed, "the outcome of a started call cannot be determined; abort again"},
		{store.Aborting, store.Ask, "it is unknown whether a resource was created"},
	}
	Runs = Transitions{
		{store.Wait, store.Wait, "resume after its process ended"},
		{store.Wait, store.Running, "claimed with a new fencing token"},
		{store.Wait, store.Canceled, "stop"},
		{store.Running, store.Wait, "resume after it was interrupted"},
		{store.Running, store.Done, "all tasks are done, have nothing to do, or are allowed to fail"},
		{store.Running, store.Failed, "a task failed, or the request cannot be read"},
		{store.Running, store.Ask, "it is unknown whether a task took effect"},
		{store.Running, store.Canceled, "stop, or the engine was stopped"},
		{store.Failed, store.Wait, "resume"},
		{store.Ask, store.Wait, "resume with an answer"},
		{store.Canceled, store.Wait, "resume"},
	}
	Tasks = Transitions{
		{store.Wait, store.Running, "the previous task is done"},
		{store.Running, store.Done, "all steps are done or pending, or nothing changes"},
		{store.Running, store.Polling, "the provisioner's token is stored"},
		{store.Running, store.Failed, "a step or the provisioner failed"},
		{store.Polling, store.Polling, "the provisioner requested another task, and its token is stored"},
		{store.Polling, store.Done, "the provisioner is done, and its metadata is stored"},
		{store.Polling, store.Failed, "the provisioner failed"},
	}
	Steps = Transitions{
		{store.Planned, store.Started, "the intent is stored before the call"},
		{store.Planned, store.Done, "an import, or nothing is left to do"},
		{store.Planned, store.Failed, "with the values now known it would exceed the approved plan, or the imported resource differs"},
		{store.Planned, store.Skipped, "a step it was waiting for failed"},
		{store.Started, store.Started, "the call is repeated with a new deadline"},
		{store.Started, store.Done, "the call succeeded"},
		{store.Started, store.Failed, "the call failed; any partial result is stored in the row"},
		{store.Started, store.Unknown, "it is unknown whether the call took effect, or the executor is gone"},
		{store.Started, store.Pending, "a deletion after the module's task failed; a cleanup or deployment retries it"},
		{store.Unknown, store.Started, "the call is repeated: an update, a deletion, or an idempotent creation"},
		{store.Unknown, store.Done, "Find or Get found its effect"},
		{store.Unknown, store.Failed, "the call had no effect or only a partial one"},
	}
)

// Move sets *state to to. It returns an error if the transition is not allowed, which indicates a bug in the caller.
func (t Transitions) Move(state *store.State, to store.State) error {
	if !slices.ContainsFunc(t, func(x Transition) bool { return x.From == *state && x.To == to }) {
		return fmt.Errorf("internal error: %s cannot become %s", *state, to)
	}
	*state = to
	return nil
}
