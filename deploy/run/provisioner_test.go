package run_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/run"
	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/deploy/sim"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/store/memory"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

// telltale is a provisioner that says what it was given when it fails.
type telltale struct{ fails string }

func (p telltale) err(method string) error {
	if method == p.fails {
		return errors.New("no hunter2-hunter2 here")
	}
	return nil
}

func (p telltale) Plan(context.Context, plan.Input) ([]plan.Input, error) { return nil, p.err("Plan") }

func (p telltale) Provision(context.Context, plan.Input) (string, error) {
	return "token", p.err("Provision")
}

func (p telltale) Status(context.Context, string) (plan.Status, error) {
	return plan.Status{State: plan.Failed, Message: "no hunter2-hunter2 here"}, p.err("Status")
}

func TestProvisionerTellsNoSecrets(t *testing.T) {
	for _, method := range []string{"Plan", "Provision", "Status", "Message"} {
		var messages []string
		w := &world{t: t, cloud: sim.New(sim.Options{Types: simTypes})}
		s := memory.New()
		if err := run.NewEnvironment(t.Context(), s, store.Environment{Name: "dev", Lineage: "lineage"}); err != nil {
			t.Fatal(err)
		}
		e := run.New(run.Options{
			Store: s, Environment: "dev", Key: secret.NewKey(), Providers: always(w), Backoff: 1, Poll: 1,
			Provisioners: map[string]plan.Provisioner{"telltale": telltale{method}},
			Provisioner:  func(tokens.Type) string { return "telltale" },
			Events:       func(e store.Event) { messages = append(messages, e.Message) },
		})
		r := run.Request{Desired: w.desired("a", "Disk/x password=hunter2-hunter2")}
		p, err := planOne(t.Context(), e, r)
		if err != nil {
			t.Fatal(err)
		}
		d, err := queueOne(t.Context(), e, p)
		if err != nil {
			t.Fatal(err)
		}
		if d, err = e.Run(t.Context(), d.ID); err != nil {
			t.Fatal(err)
		}
		if want := "provisioner telltale: no (secret) here"; d.State != store.Failed || d.Message != want {
			t.Errorf("%s: got %s %q, want FAILED %q", method, d.State, d.Message, want)
		}
		if all := strings.Join(messages, "\n"); strings.Contains(all, "hunter2") {
			t.Errorf("%s: an event tells the secret: %s", method, all)
		}
	}
}
