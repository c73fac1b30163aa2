package pulumiserve

import (
	"context"
	"errors"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/lumi-idl/lumi/adapter/pulumi/internal/traps"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestPreview(t *testing.T) {
	p := startTraps(t, traps.NewCloud())
	inputs := p.check(boxURN, `{"label": "x", "code": "$unknown"}`, nil)
	resp := must.Get(p.Create(t.Context(), &pulumirpc.CreateRequest{Urn: boxURN, Properties: inputs, Preview: true}))(t)
	expect.Equal(t, "", resp.GetId())
	same(t, `{"label": "x", "code": "$unknown", "size": "$unknown", "serial": "$unknown", "count": "$unknown", "owner": "$unknown",
		"token": {"$sig": "$secret", "value": "$unknown"}, "keeper": "$unknown"}`, resp.GetProperties())
}

func TestSeed(t *testing.T) {
	p := startTraps(t, traps.NewCloud())
	check := func(seed string, olds *pulumirpc.CheckResponse) *pulumirpc.CheckResponse {
		return must.Get(p.Check(t.Context(), &pulumirpc.CheckRequest{
			Urn: boxURN, News: object(t, `{}`), Olds: olds.GetInputs(), RandomSeed: []byte(seed),
		}))(t)
	}
	label := func(r *pulumirpc.CheckResponse) string { return r.GetInputs().GetFields()["label"].GetStringValue() }
	first := check("1", nil)
	expect.Equal(t, lumi.Seed("1").Name("box-", 6, lumi.LowerAlphanumeric), label(first))
	expect.Equal(t, label(first), label(check("2", first))) // The engine sends another seed each time.
	if label(check("2", nil)) == label(first) {
		t.Error("a replacement has the name of what it replaces")
	}
}

func TestReplace(t *testing.T) {
	p := startTraps(t, traps.NewCloud())
	_, outputs, id := p.made(`{"label": "x", "parts": {"a": [{"name": "n"}]}}`)
	diff := p.diff(id, outputs, p.check(boxURN, `{"label": "y", "parts": {"a": [{"name": "m"}]}}`, nil))
	expect.Equal(t, map[string]string{"label": "UPDATE_REPLACE", "parts.a[0].name": "UPDATE"}, kinds(diff))
	expect.Equal(t, []string{"label"}, diff.GetReplaces())
	expect.Equal(t, []string{"label", "parts"}, diff.GetDiffs())
	expect.Equal(t, false, diff.GetDeleteBeforeReplace())
}

// failed returns the code, the message, and the state of a failed call.
func failed(t *testing.T, err error) (string, *pulumirpc.ErrorResourceInitFailed) {
	t.Helper()
	s := status.Convert(err)
	for _, d := range s.Details() {
		if d, ok := d.(*pulumirpc.ErrorResourceInitFailed); ok {
			expect.Equal(t, s.Message(), d.GetReasons()[0])
			return s.Code().String() + " " + s.Message(), d
		}
	}
	return s.Code().String() + " " + s.Message(), nil
}

func TestCreateFails(t *testing.T) {
	for _, test := range []struct {
		name          string
		before, after error
		want          string
		id            string
	}{
		{"before", errors.New("no room for hush-hush"), nil, "FailedPrecondition no room for (secret)", ""},
		{"half-way", nil, &lumi.PartialError{Err: errors.New("no power")}, "Unknown partially done: no power", "box-1"},
		{"lost", lumi.Uncertain(errors.New("no answer")), nil, "FailedPrecondition no answer: the resource was not created", ""},
		{"lost later", nil, lumi.Uncertain(errors.New("no answer")), "OK ", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := traps.NewCloud()
			c.Before = func(context.Context, string) error { return test.before }
			c.After = func(context.Context, string) error { return test.after }
			p := startTraps(t, c)
			inputs := p.check(boxURN, `{"label": "x", "password": "pass"}`, nil)
			resp, err := p.Create(t.Context(), &pulumirpc.CreateRequest{Urn: boxURN, Properties: inputs})
			message, state := failed(t, err)
			expect.Equal(t, test.want, message)
			expect.Equal(t, test.id, state.GetId())
			if test.id != "" {
				expect.Equal(t, inputs.AsMap(), state.GetInputs().AsMap())
				expect.Equal(t, "serial of box-1", state.GetProperties().GetFields()["serial"].GetStringValue())
			}
			if err == nil {
				expect.Equal(t, "box-1", resp.GetId())
				expect.Equal(t, "DIFF_NONE", p.diff(resp.GetId(), resp.GetProperties(), inputs).GetChanges().String())
			}
		})
	}
}

func TestUpdateFails(t *testing.T) {
	for _, test := range []struct {
		name          string
		before, after error
		want          string
		left          string
	}{
		{"before", errors.New("no room"), nil, "FailedPrecondition no room", ""},
		{"half-way", nil, &lumi.PartialError{Err: errors.New("no power")}, "Unknown partially done: no power", "DIFF_SOME"},
		{"lost", lumi.Uncertain(errors.New("no answer")), nil, "Unknown no answer", "DIFF_SOME"},
		{"lost later", nil, lumi.Uncertain(errors.New("no answer")), "OK ", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := traps.NewCloud()
			p := startTraps(t, c)
			inputs, outputs, id := p.made(`{"label": "x", "code": "a"}`)
			c.Before = func(context.Context, string) error { return test.before }
			c.After = func(context.Context, string) error { return test.after }
			news := p.check(boxURN, `{"label": "x", "code": "b"}`, inputs)
			resp, err := p.Update(t.Context(), &pulumirpc.UpdateRequest{Urn: boxURN, Id: id, Olds: outputs, OldInputs: inputs, News: news})
			message, state := failed(t, err)
			expect.Equal(t, test.want, message)
			if test.left != "" {
				expect.Equal(t, id, state.GetId())
				expect.Equal(t, test.left, p.diff(id, state.GetProperties(), news).GetChanges().String())
			}
			if err == nil {
				expect.Equal(t, "DIFF_NONE", p.diff(id, resp.GetProperties(), news).GetChanges().String())
			}
		})
	}
}

// TestUnknownOutcome makes calls with outcomes that cannot be found out.
func TestUnknownOutcome(t *testing.T) {
	c := traps.NewCloud()
	c.NoLids = lumi.Uncertain(errors.New("no answer"))
	p := startTraps(t, c)
	_, err := p.Create(t.Context(), &pulumirpc.CreateRequest{Urn: lidURN, Properties: p.check(lidURN, `{}`, nil)})
	message, _ := failed(t, err)
	expect.Equal(t, "Unknown no answer: it is unknown whether the resource was created: the provider cannot find resources"+
		" of type acme/traps:index:Lid: unsupported operation", message)

	inputs, outputs, id := p.made(`{"label": "x", "code": "a"}`)
	c.After = func(context.Context, string) error { return lumi.Uncertain(errors.New("no answer")) }
	c.Unreadable = errors.New("no power")
	news := p.check(boxURN, `{"label": "x", "code": "b"}`, inputs)
	_, err = p.Update(t.Context(), &pulumirpc.UpdateRequest{Urn: boxURN, Id: id, Olds: outputs, OldInputs: inputs, News: news})
	message, _ = failed(t, err)
	expect.Equal(t, "Unknown no answer: cannot read the resource: box-1: no power", message)
	_, err = p.Delete(t.Context(), &pulumirpc.DeleteRequest{Urn: boxURN, Id: id, Properties: outputs})
	message, _ = failed(t, err)
	expect.Equal(t, "Unknown no answer", message)
}

func TestDeleteFails(t *testing.T) {
	c := traps.NewCloud()
	c.After = func(_ context.Context, op string) error {
		if op == "delete" {
			return lumi.Uncertain(errors.New("no answer"))
		}
		return nil
	}
	p := startTraps(t, c)
	_, outputs, id := p.made(`{"label": "x"}`)
	must.Get(p.Delete(t.Context(), &pulumirpc.DeleteRequest{Urn: boxURN, Id: id, Properties: outputs}))(t)
}

// TestCancel cancels a call, whose outcome is still found out, and later calls.
func TestCancel(t *testing.T) {
	c := traps.NewCloud()
	p := startTraps(t, c)
	c.After = func(ctx context.Context, _ string) error {
		must.Get(p.Cancel(t.Context(), nil))(t)
		<-ctx.Done()
		return ctx.Err()
	}
	_, outputs, id := p.made(`{"label": "x"}`)
	expect.Equal(t, "serial of box-1", outputs.GetFields()["serial"].GetStringValue())
	_, err := p.Delete(t.Context(), &pulumirpc.DeleteRequest{Urn: boxURN, Id: id, Properties: outputs})
	expect.Equal(t, codes.Canceled.String()+" the provider was canceled", status.Code(err).String()+" "+status.Convert(err).Message())
}

// TestTimeout ends a creation after the engine's time.
func TestTimeout(t *testing.T) {
	c := traps.NewCloud()
	c.Before = func(ctx context.Context, _ string) error {
		<-ctx.Done()
		return ctx.Err()
	}
	p := startTraps(t, c)
	inputs := p.check(boxURN, `{"label": "x"}`, nil)
	_, err := p.Create(t.Context(), &pulumirpc.CreateRequest{Urn: boxURN, Properties: inputs, Timeout: 0.01})
	message, _ := failed(t, err)
	expect.Equal(t, "FailedPrecondition context deadline exceeded: the resource was not created", message)
}
