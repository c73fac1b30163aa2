package pulumitest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/adapter/pulumi/internal/traps"
	"github.com/lumi-idl/lumi/adapter/pulumi/internal/traps/lumischema"
	"github.com/lumi-idl/lumi/adapter/pulumi/pulumiserve"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/providertest"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// box uses references, secrets, generated names, assets, and computed properties.
const box = `{"configuration": {"region": "north"}, "vertices": {
	"lid": {"type": "acme/traps:index:Lid", "name": "lid", "create": {"name": "lid", "color": "red"},
		"faults": [{"set": {"color": "green"}, "expect": ["color: expected \"red\" or \"blue\", found a string \"green\""]}]},
	"box": {"type": "acme/traps:index:Box", "create": {"code": "a", "password": "pass", "lid": {"#ref": "lid"},
			"parts": {"p": [{"name": "n", "key": "k"}]}, "extra": {"a": [1, null]},
			"script": {"4dabf18193072939515e22adb298388d": "c44067f5952c0a294b673a41bacd8c17", "text": "one"}}, "mayDiffer": ["password"],
		"expect": {"size": 7, "count": 1, "owner": "north"}, "ignores": [{"code": "A"}],
		"updates": [{"set": {"code": "b"}}], "replaces": [{"set": {"label": "l"}, "because": ["label"]}]}}}`

// broken is a server whose answers are changed before they are returned. An error replaces the answer.
type broken struct {
	pulumirpc.ResourceProviderServer
	change func(req, resp any) error
}

func answer[Q, R any](ctx context.Context, b *broken, req Q, f func(context.Context, Q) (R, error)) (R, error) {
	resp, err := f(ctx, req)
	if err == nil && b.change != nil {
		err = b.change(req, resp)
	}
	return resp, err
}

func (b *broken) Check(ctx context.Context, r *pulumirpc.CheckRequest) (*pulumirpc.CheckResponse, error) {
	return answer(ctx, b, r, b.ResourceProviderServer.Check)
}

func (b *broken) Diff(ctx context.Context, r *pulumirpc.DiffRequest) (*pulumirpc.DiffResponse, error) {
	return answer(ctx, b, r, b.ResourceProviderServer.Diff)
}

func (b *broken) Create(ctx context.Context, r *pulumirpc.CreateRequest) (*pulumirpc.CreateResponse, error) {
	return answer(ctx, b, r, b.ResourceProviderServer.Create)
}

func (b *broken) Read(ctx context.Context, r *pulumirpc.ReadRequest) (*pulumirpc.ReadResponse, error) {
	return answer(ctx, b, r, b.ResourceProviderServer.Read)
}

func (b *broken) Update(ctx context.Context, r *pulumirpc.UpdateRequest) (*pulumirpc.UpdateResponse, error) {
	return answer(ctx, b, r, b.ResourceProviderServer.Update)
}

func (b *broken) Delete(ctx context.Context, r *pulumirpc.DeleteRequest) (*emptypb.Empty, error) {
	return answer(ctx, b, r, b.ResourceProviderServer.Delete)
}

// failuresOf runs the kit against a server with changed answers, and returns the failures.
func failuresOf(t *testing.T, change func(req, resp any) error) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "fixture.json")
	must.Do(t, os.WriteFile(file, []byte(box), 0o600))
	b := &broken{must.Get(pulumiserve.New(traps.NewCloud().Plugin(), lumischema.JSON))(t), change}
	var found []string
	trial := &providertest.Trial{Ctx: t.Context(), Report: func(text string) { found = append(found, text) }, Log: func(text string) { t.Log(text) }}
	trial.Do(func() { test(trial, b, lumischema.JSON, file) })
	trial.End()
	return found
}

// on changes the answers of one kind for boxes.
func on[Q interface{ GetUrn() string }, R any](change func(Q, R)) func(req, resp any) error {
	return func(req, resp any) error {
		q, isRequest := req.(Q)
		r, isResponse := resp.(R)
		if isRequest && isResponse && strings.HasSuffix(q.GetUrn(), "::box") {
			change(q, r)
		}
		return nil
	}
}

func set(s *structpb.Struct, name string, v *structpb.Value) {
	if s != nil && s.Fields != nil {
		s.Fields[name] = v
	}
}

func TestTraps(t *testing.T) {
	if found := failuresOf(t, nil); len(found) > 0 {
		t.Errorf("found:\n%s", strings.Join(found, "\n"))
	}
}

func TestBroken(t *testing.T) {
	text := structpb.NewStringValue("x")
	for name, test := range map[string]struct {
		change func(req, resp any) error
		want   string
	}{
		"Check loses an input": {on(func(_ *pulumirpc.CheckRequest, r *pulumirpc.CheckResponse) { delete(r.Inputs.Fields, "code") }),
			`"box": create: Check: code: the program's value is lost`},
		"Check returns an output": {on(func(_ *pulumirpc.CheckRequest, r *pulumirpc.CheckResponse) { set(r.Inputs, "serial", text) }),
			`"box": create: Check: serial: an output is among the inputs`},
		"Check reveals a secret": {on(func(_ *pulumirpc.CheckRequest, r *pulumirpc.CheckResponse) { set(r.Inputs, "password", text) }),
			`"box": create: Check: password: a secret is not marked`},
		"a preview knows an output": {on(func(q *pulumirpc.CreateRequest, r *pulumirpc.CreateResponse) {
			if q.Preview {
				set(r.Properties, "count", structpb.NewNumberValue(1))
			}
		}), `"box": create: Create (preview): count: an output is not planned as unknown`},
		"a preview has an ID": {on(func(_ *pulumirpc.CreateRequest, r *pulumirpc.CreateResponse) { r.Id = "x" }),
			`"box": create: Create: a preview returns the ID "x"`},
		"a preview forgets a fixed output": {on(func(q *pulumirpc.UpdateRequest, r *pulumirpc.UpdateResponse) {
			if q.Preview {
				set(r.Properties, "serial", lumi.NewUnknown())
			}
		}), `"box": update 1: Update (preview): serial: a fixed output is not planned as before`},
		"Create does something else": {on(func(q *pulumirpc.CreateRequest, r *pulumirpc.CreateResponse) {
			if !q.Preview {
				set(r.Properties, "code", text)
			}
		}), `"box": create: Create: code: differs from the preview`},
		"Create returns no ID": {on(func(_ *pulumirpc.CreateRequest, r *pulumirpc.CreateResponse) { r.Id = "" }),
			`"box": create: Create returns no ID`},
		"Create reveals a secret": {on(func(_ *pulumirpc.CreateRequest, r *pulumirpc.CreateResponse) { set(r.Properties, "token", text) }),
			`"box": create: Create: token: a secret is not marked`},
		"the state is unknown": {on(func(_ *pulumirpc.UpdateRequest, r *pulumirpc.UpdateResponse) {
			set(r.Properties, "owner", lumi.NewUnknown())
		}),
			`"box": update 1: Update: owner: is unknown in the state`},
		"Diff contradicts itself": {on(func(_ *pulumirpc.DiffRequest, r *pulumirpc.DiffResponse) { r.Diffs = append(r.Diffs, "size") }),
			`"box": create: Diff: the detailed changes are of [], but the changes of ["size"]`},
		"Diff finds no replacement": {on(func(_ *pulumirpc.DiffRequest, r *pulumirpc.DiffResponse) { r.Replaces = nil }),
			`"box": replace 1: Diff: label: replaces only in the detailed diff`},
		"Diff finds changes": {on(func(_ *pulumirpc.DiffRequest, r *pulumirpc.DiffResponse) {
			r.Changes, r.Diffs = pulumirpc.DiffResponse_DIFF_SOME, []string{"size"}
			r.DetailedDiff = map[string]*pulumirpc.PropertyDiff{"size": {}}
		}), `"box": create: expected no changes, got DIFF_SOME of ["size"]`},
		"Read finds drift": {on(func(q *pulumirpc.ReadRequest, r *pulumirpc.ReadResponse) { set(r.Properties, "owner", text) }),
			`"box": create: Read: owner differs from the state`},
		"Read finds another resource": {on(func(_ *pulumirpc.ReadRequest, r *pulumirpc.ReadResponse) { r.Id = "x" }),
			`"box": create: Read: expected the ID "box-1", got "x"`},
		"Delete deletes nothing": {on(func(_ *pulumirpc.ReadRequest, r *pulumirpc.ReadResponse) { r.Id = "x" }),
			`"box": delete: Delete: the resource still exists`},
		"no failures": {func(_, resp any) error {
			if r, ok := resp.(*pulumirpc.CheckResponse); ok {
				r.Failures = nil
			}
			return nil
		}, `"lid": faults 1: expected the failure "color: expected \"red\" or \"blue\", found a string \"green\"", got []`},
		"Delete fails": {func(req, _ any) error {
			if _, ok := req.(*pulumirpc.DeleteRequest); ok {
				return errors.New("is busy")
			}
			return nil
		}, `"lid": create for others: DeleteRequest: is busy`},
	} {
		t.Run(name, func(t *testing.T) {
			if found := failuresOf(t, test.change); !slices.Contains(found, test.want) {
				t.Errorf("expected %s, found:\n%s", test.want, strings.Join(found, "\n"))
			}
		})
	}
}
