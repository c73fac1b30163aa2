package job

import (
	"fmt"
	"slices"

	"github.com/lumi-idl/lumi/deploy/store"
)

// Transition is a change of state that may happen.
type Transition struct {
	From store.State
	To   store.State
	// When says what it takes, for the tables in docs/engine.md.
	When string
}

// Transitions are those of one kind of rows.
type Transitions []Transition

// The transitions of deployments, of runs of task graphs, and of the tasks and steps of deployments. Each is one transaction.
var (
	Deployments = Transitions{
		{store.Wait, store.Running, "no related deployment is before it: claimed, with a new fencing token"},
		{store.Wait, store.Aborting, "abort, after it superseded a failed deployment; retry of an abort"},
		{store.Wait, store.Canceled, "abort, before it started"},
		{store.Running, store.Running, "the lease has expired or was released: claimed again"},
		{store.Running, store.Done, "all tasks are done; cleanups are queued"},
		{store.Running, store.Failed, "a step or a task failed, or the module cannot be planned"},
		{store.Running, store.Ask, "the plan does more than was shown, the key is missing, or it is unknown whether a resource was created"},
		{store.Running, store.Aborting, "abort: the owner stops between steps, or its lease has expired"},
		{store.Ask, store.Wait, "retry, or an answer"},
		{store.Ask, store.Superseded, "another deployment of the module takes its place"},
		{store.Ask, store.Aborting, "abort"},
		{store.Failed, store.Wait, "retry"},
		{store.Failed, store.Superseded, "another deployment of the module takes its place"},
		{store.Failed, store.Aborting, "abort"},
		{store.Aborting, store.Aborting, "claimed, or claimed again once the lease has expired"},
		{store.Aborting, store.Aborted, "what it created is left to a cleanup, which is queued"},
		{store.Aborting, store.Done, "the new version of the module was in the resource graph already"},
		{store.Aborting, store.Failed, "a call that had started cannot be settled; abort again"},
		{store.Aborting, store.Ask, "it is unknown whether a resource was created"},
	}
	Runs = Transitions{
		{store.Wait, store.Wait, "resume, after its process has ended"},
		{store.Wait, store.Running, "claimed, with a new fencing token"},
		{store.Wait, store.Canceled, "stop"},
		{store.Running, store.Wait, "resume, after it was interrupted"},
		{store.Running, store.Done, "all tasks are done, have nothing to do, or may fail"},
		{store.Running, store.Failed, "a task failed, or the request cannot be read"},
		{store.Running, store.Ask, "it is unknown whether a task took effect"},
		{store.Running, store.Canceled, "stop, or the engine was stopped"},
		{store.Failed, store.Wait, "resume"},
		{store.Ask, store.Wait, "resume, with an answer"},
		{store.Canceled, store.Wait, "resume"},
	}
	Tasks = Transitions{
		{store.Wait, store.Running, "the task before it is done"},
		{store.Running, store.Done, "all steps are done or pending, or nothing changes"},
		{store.Running, store.Polling, "the provisioner's token is stored"},
		{store.Running, store.Failed, "a step or the provisioner failed"},
		{store.Polling, store.Polling, "the provisioner had asked for a further task, whose token is stored"},
		{store.Polling, store.Done, "the provisioner is done, and its metadata stored"},
		{store.Polling, store.Failed, "the provisioner failed"},
	}
	Steps = Transitions{
		{store.Planned, store.Started, "the intent is stored, before the call"},
		{store.Planned, store.Done, "an import, or nothing is left to do"},
		{store.Planned, store.Failed, "with the values now known, it would do more than was shown, or the imported resource differs"},
		{store.Planned, store.Skipped, "a step that it waits for failed"},
		{store.Started, store.Started, "the call is made again, with another deadline"},
		{store.Started, store.Done, "the call succeeded"},
		{store.Started, store.Failed, "the call failed; partial results are part of the row"},
		{store.Started, store.Unknown, "it is unknown whether the call took effect, or the executor is gone"},
		{store.Started, store.Pending, "a deletion failed after the module's task: a cleanup or deployment tries again"},
		{store.Unknown, store.Started, "the call is made again: an update, a deletion, or a creation that can be repeated"},
		{store.Unknown, store.Done, "Find or Get found its effect"},
		{store.Unknown, store.Failed, "the call had no effect, or only a part of it"},
	}
)

// Move changes a state. The error, a mistake of the caller, is that the change is not in the table.
func (t Transitions) Move(state *store.State, to store.State) error {
	if !slices.ContainsFunc(t, func(x Transition) bool { return x.From == *state && x.To == to }) {
		return fmt.Errorf("internal error: %s cannot become %s", *state, to)
	}
	*state = to
	return nil
}
