package run_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/deploy/environment"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/run"
	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/store/memory"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/test/kit/must"
	"github.com/lumi-idl/lumi/test/sim"
)

// telltale is a provisioner whose errors contain secrets of its input.
type telltale struct {
	fails string
	polls *int
}

func (p telltale) err(method string) error {
	if method == p.fails {
		return errors.New("no hunter2-hunter2 here")
	}
	return nil
}

func (p telltale) Plan(context.Context, plan.Input) (d plan.Details, err error) {
	return plan.Details{Text: "no hunter2-hunter2 here"}, p.err("Plan")
}

func (p telltale) Provision(context.Context, plan.Input) (string, error) {
	return "token", p.err("Provision")
}

func (p telltale) Status(context.Context, string) (plan.Status, error) {
	switch p.fails {
	case "Nothing":
		return plan.Status{State: plan.Failed}, nil
	case "Progress": // The secret is at the position where messages are truncated.
		if *p.polls++; *p.polls == 1 {
			return plan.Status{State: plan.Running, Message: strings.Repeat("x", 4090) + "hunter2-hunter2"}, nil
		}
	case "Token":
		return plan.Status{}, fmt.Errorf("token hunter2-hunter2: %w", lumi.ErrNotFound)
	}
	return plan.Status{State: plan.Failed, Message: "no hunter2-hunter2 here"}, p.err("Status")
}

func TestProvisionerSecretsMasked(t *testing.T) {
	const said = "no (secret) here"
	for method, want := range map[string]string{
		"Plan": said, "Provision": said, "Status": said, "Message": said, "Progress": said,
		"Nothing": "failed without a message",
		"Token":   "the provisioner does not recognize the token that it returned: token (secret): no such resource",
	} {
		var messages []string
		w := &world{t: t, cloud: sim.New(sim.Options{Types: simTypes})}
		s := memory.New()
		must.Do(t, environment.Add(t.Context(), s, store.Environment{Name: "dev", Lineage: "lineage"}))
		e := environment.New(run.Options{
			Store: s, Environment: "dev", Key: secret.NewKey(), Providers: always(w), Backoff: 1, Poll: 1,
			Provisioners: map[string]plan.Provisioner{"telltale": telltale{method, new(int)}},
			Provisioner:  func(tokens.Type) (string, error) { return "telltale", nil },
			Events:       func(e store.Event) { messages = append(messages, e.Message) },
		})
		r := run.Request{Desired: w.desired("a", "Disk/x password=hunter2-hunter2")}
		p := must.Get(planOne(t.Context(), e, r))(t)
		details, err := e.Details(t.Context(), p)
		if text := fmt.Sprint(details, err); strings.Contains(text, "hunter2") || !strings.Contains(text, "no (secret) here") {
			t.Errorf("%s: Details() = %s, want the secret masked", method, text)
		}
		d := must.Get(queueOne(t.Context(), e, p))(t)
		d = must.Get(e.Run(t.Context(), d.ID))(t)
		if want := "provisioner telltale: " + want; d.State != store.Failed || d.Message != want {
			t.Errorf("%s: deployment ended with %s %q, want FAILED %q", method, d.State, d.Message, want)
		}
		if all := strings.Join(messages, "\n"); strings.Contains(all, "hunter") {
			t.Errorf("%s: events contain the secret: %s", method, all)
		}
	}
}

func TestMetadataSealed(t *testing.T) {
	w := newWorld(t, &transitions{})
	w.engine.Poll = 1
	w.configureFaker([]string{"Net", "secret=true"})
	w.command([]string{"deploy", "a"}, "Net/n\nNet/m mode=@n.arn\nDisk/d mode=@n.arn")
	w.command([]string{"inputs", "a", "Net/m"}, "")
	const secret = "made of a:sim:index:Net::n:1"
	if shown := w.log.flush(w); !strings.Contains(shown, "inputs {mode: secret("+secret+")") {
		t.Errorf("output of the inputs command = %s, want a secret mode", shown)
	}
	must.Do(t, w.store.Read(t.Context(), func(tx store.Tx) error {
		vertices, err := tx.Vertices("dev")
		history, err2 := tx.History("dev", 0, 1000)
		for _, text := range texts(tx, vertices, history) {
			if strings.Contains(text, secret) {
				t.Errorf("store contains the secret in plain text: %s", text)
			}
		}
		if len(vertices) < 4 || len(history) != 1 {
			t.Errorf("store contains %d vertices and %d deployments, want at least 4 and 1", len(vertices), len(history))
		}
		return errors.Join(err, err2)
	}))
}
