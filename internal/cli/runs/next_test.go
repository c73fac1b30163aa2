package runs

import (
	"errors"
	"testing"

	"github.com/lumi-idl/lumi/deploy/environment"
	"github.com/lumi-idl/lumi/deploy/queue"
	"github.com/lumi-idl/lumi/deploy/run"
	"github.com/lumi-idl/lumi/deploy/store"
	lumiyaml "github.com/lumi-idl/lumi/deploy/workspace"
	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/workspace"
	"github.com/lumi-idl/lumi/runtime/urn"
)

func TestNext(t *testing.T) {
	engine := environment.New(run.Options{Owner: "here", IsDead: func(owner string) bool { return owner == "dead" }})
	s := &workspace.Session{Workspace: &lumiyaml.Workspace{Environment: "dev"}, Environment: store.Environment{Name: "prod"}}
	for _, test := range []struct {
		of           environment.Status
		what, advice string
		code         error
	}{
		{environment.Status{Job: store.Job{State: store.Done}}, "", "", nil},
		{environment.Status{Job: store.Job{State: store.Aborted}}, "", "", nil},
		{environment.Status{Job: store.Job{State: store.Canceled}}, "", "", nil},
		{environment.Status{Job: store.Job{State: store.Superseded, Message: "by a[2]"}}, "was superseded by a[2]", "", console.ErrWrong},
		{
			environment.Status{Job: store.Job{State: store.Failed, Kind: "deploy"}},
			"failed", "Fix the cause, then continue with 'lumi retry a --environment=prod', deploy a changed program with 'lumi deploy a --environment=prod'," +
				" or give up with 'lumi abort a --environment=prod'", console.ErrWrong,
		},
		{
			environment.Status{Job: store.Job{State: store.Failed, Kind: "destroy"}},
			"failed", "Fix the cause, then continue with 'lumi retry a --environment=prod', or give up with 'lumi abort a --environment=prod'", console.ErrWrong,
		},
		{
			environment.Status{Job: store.Job{State: store.Failed, Kind: "cleanup"}},
			"failed", "Fix the cause, then continue with 'lumi retry a --environment=prod'", console.ErrWrong,
		},
		{
			environment.Status{Job: store.Job{State: store.Failed, Kind: "deploy", Abort: true}},
			"failed", "Fix the cause, then try again with 'lumi abort a --environment=prod'", console.ErrWrong,
		},
		{
			environment.Status{Job: store.Job{State: store.Ask}},
			"is waiting for an answer", "Review the new plan with 'lumi deploy a --environment=prod', or give up with 'lumi abort a --environment=prod'", console.ErrAsks,
		},
		{
			environment.Status{Job: store.Job{State: store.Ask}, Asks: []urn.URN{"urn:lumi:prod::a:index::a:b:C::x"}},
			"is waiting for an answer", "Look for x: 'lumi resolve x --environment=prod --id=ID' if it exists, 'lumi resolve x --environment=prod --absent' if not", console.ErrAsks,
		},
		{
			environment.Status{Job: store.Job{State: store.Wait, Owner: "here"}, Waits: []queue.Wait{{For: queue.Entry{ID: 1, Module: "b"}, Reason: "a uses b"}}},
			"is waiting for b[1]: a uses b", "Afterward, continue with 'lumi retry a --environment=prod'", console.ErrResumable,
		},
		{environment.Status{Job: store.Job{State: store.Running, Owner: "other"}, Held: true}, "", "", console.ErrResumable},
		{environment.Status{Job: store.Job{State: store.Running, Owner: "dead"}}, "was interrupted", "Continue with 'lumi retry a --environment=prod'", console.ErrResumable},
		{environment.Status{Job: store.Job{State: store.Aborting, Owner: "other"}}, "was interrupted", "Continue with 'lumi retry a --environment=prod'", console.ErrResumable},
	} {
		test.of.Module = "a"
		what, advice, code := Next(s, engine, test.of)
		if what != test.what || advice != test.advice || !errors.Is(code, test.code) {
			t.Errorf("Next of state %s = %q, %q, %v, want %q, %q, %v", test.of.State, what, advice, code, test.what, test.advice, test.code)
		}
	}
}
