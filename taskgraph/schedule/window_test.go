package schedule_test

import (
	"testing"

	"github.com/lumi-idl/lumi/taskgraph/schedule"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// A group limits its members even if it has not changed, as with an event that only a member lists.
func TestUnchangedGroup(t *testing.T) {
	t.Parallel()
	in := input(t, `
- {id: g, type: group, tasks: [a], parameters: {strategy: {type: parallel, amount: 1}}}
- {id: a, type: shell, reexecute_on: [upgrade]}`, "n", "m")
	in.Event = "upgrade"
	in.Last = func(task, _ string) (schedule.Last, bool) {
		return schedule.Last{Succeeded: true, Digest: in.Digests[task]}, true
	}
	s := must.Get(schedule.New(in))(t)
	expect.Equal(t, "n/g <- n/a [unchanged]\nm/g <- m/a [unchanged]\nn/a\nm/a", plan(s))
	if len(s.Windows) != 1 || s.Windows[0].Amount != 1 || len(s.Windows[0].Places) != 2 {
		t.Errorf("windows = %+v, want one for a node at a time", s.Windows)
	}
}

// Groups without nodes, such as those that are not chosen, have no window.
func TestGroupNotChosen(t *testing.T) {
	t.Parallel()
	in := input(t, `
- {id: g, type: group, tasks: [a], fault_tolerance: 1}
- {id: a, type: shell}
- {id: b, type: shell}`, "n")
	in.Choice = schedule.Choice{Tasks: []string{"b"}}
	if s := must.Get(schedule.New(in))(t); len(s.Windows) > 0 {
		t.Errorf("windows = %+v, want none", s.Windows)
	}
}
