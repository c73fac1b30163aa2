package serve

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// Calls over a connection and by a Local return the same responses and errors as direct calls.
func TestSameResponses(t *testing.T) {
	unknown := thingBag("nothing")
	unknown.Fields["fixed"] = lumi.NewUnknown()
	secret := thingBag("nothing")
	secret.Fields["secret"] = lumi.NewSecret(structpb.NewStringValue("hush"))
	listed := thingBag("nothing")
	listed.Fields["list"] = structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{
		structpb.NewStringValue("x"),
	}})
	wrong := thingBag("nothing", "nonsense", "x", "result", "y")
	delete(wrong.Fields, "name")
	refs := lumi.References{otherURN: {ID: "o-1", Properties: lumi.BagOf(thingBag("nothing"))}, "gone": {}}

	remote, local := start(t, "plugin"), local(t, "plugin")
	for name, call := range map[string]func(ctx context.Context, p lumi.ResourceProvider) (any, error){
		"check":             check(thingBag("nothing")),
		"check nil":         check(nil),
		"check unknown":     check(unknown),
		"check secret":      check(secret),
		"check wrong":       check(wrong),
		"check fault":       check(thingBag("fault")),
		"check fail":        check(thingBag("fail")),
		"check retry":       check(thingBag("retry")),
		"check inner":       check(thingBag("inner")),
		"check unsendable":  check(thingBag("unsendable")),
		"create":            create(thingBag("nothing"), nil),
		"create unknown":    create(unknown, nil),
		"create reference":  create(thingBag("reference"), refs),
		"create dangling":   create(thingBag("reference"), nil),
		"create fail":       create(thingBag("fail"), nil),
		"create retry":      create(thingBag("retry"), nil),
		"create unsendable": create(thingBag("unsendable"), nil),
		"create partly":     create(thingBag("partly fail"), nil),
		"partly fault":      create(thingBag("partly fault"), nil),
		"partly retry":      create(thingBag("partly retry"), nil),
		"partly unsendable": create(thingBag("partly unsendable"), nil),
		"get":               get("t-1"),
		"get missing":       get("missing t-2"),
		"get fail":          get("fail"),
		"inspect none":      inspect(thingBag("nothing"), thingBag("nothing")),
		"inspect unknown":   inspect(thingBag("nothing"), unknown),
		"inspect secret":    inspect(secret, thingBag("nothing", "secret", "loud")),
		"inspect added":     inspect(thingBag("nothing"), listed),
		"inspect removed":   inspect(listed, thingBag("nothing")),
		"inspect modified":  inspect(thingBag("nothing", "fixed", "x"), thingBag("nothing", "fixed", "y")),
		"inspect fail":      inspect(thingBag("nothing"), thingBag("fail")),
		"update":            update(thingBag("nothing"), listed),
		"update replaces":   update(thingBag("nothing", "fixed", "x"), thingBag("nothing", "fixed", "y", "name", "b")),
		"update unknown":    update(thingBag("nothing"), unknown),
		"update fail":       update(thingBag("nothing"), thingBag("fail")),
		"update partly":     update(thingBag("nothing", "result", "x"), thingBag("partly fail")),
		"check wrapped":     check(thingBag("wrapped")),
		"create wrapped":    create(thingBag("wrapped"), nil),
		"partly wrapped":    create(thingBag("partly wrapped"), nil),
		"get wrapped":       get("wrapped"),
		"inspect wrapped":   inspect(thingBag("nothing"), thingBag("wrapped")),
		"update wrapped":    update(thingBag("nothing"), thingBag("wrapped")),
		"updated partly":    update(thingBag("nothing"), thingBag("partly wrapped")),
		"delete wrapped":    remove(thingBag("wrapped")),
		"retry-fault":       check(thingBag("retry-fault")),
		"zero-retry":        check(thingBag("zero-retry")),
		"zero-invalid":      check(thingBag("zero-invalid")),
		"nil-invalid":       check(thingBag("nil-invalid")),
		"nil-fault":         check(thingBag("nil-fault")),
		"create exists":     create(thingBag("exists vpc-1"), nil),
		"update exists":     update(thingBag("nothing"), thingBag("exists t-1")),
		"partly nothing":    update(thingBag("nothing"), thingBag("partly nothing")),
		"delete":            remove(thingBag("nothing")),
		"delete missing":    remove(thingBag("missing t-1")),
		"delete fail":       remove(thingBag("fail")),
		"update token":      update(thingBag("nothing"), thingBag("token")),
		"delete token":      remove(thingBag("token fails")),
		"name":              nameOf(thingURN, thingBag("nothing", "name", "me")),
		"name unknown":      nameOf(thingURN, &structpb.Struct{}),
	} {
		t.Run(name, func(t *testing.T) {
			want, wantErr := call(t.Context(), resources()[thingToken])
			for _, p := range []called{remote, local} {
				got, gotErr := call(within(t), must.Get(p.Resource(thingToken))(t))
				if diff := cmp.Diff(want, got, sameBags); diff != "" {
					t.Errorf("response of %T (-direct +got):\n%s", p, diff)
				}
				sameError(t, wantErr, gotErr)
			}
		})
	}
	for name, do := range map[string]string{"name unnamed": "nothing", "name bad": "\n", "name fault": "fault"} {
		t.Run(name, func(t *testing.T) {
			call := nameOf(otherURN, thingBag(do))
			want, wantErr := call(t.Context(), resources()[otherToken])
			for _, p := range []called{remote, local} {
				got, gotErr := call(within(t), must.Get(p.Resource(otherToken))(t))
				expect.Equal(t, want, got, "the answers differ")
				sameError(t, wantErr, gotErr)
			}
		})
	}
}

// sameBags makes cmp compare bags by content.
var sameBags = cmp.Options{protocmp.Transform(), cmp.Transformer("Struct", lumi.Bag.Struct)}

// sameError checks that got, an error received over a connection, is equivalent to want, the error sent.
func sameError(t *testing.T, want, got error) {
	t.Helper()
	if want == nil || got == nil {
		if want != got { //nolint:errorlint // One of them is nil.
			t.Errorf("error = %v, want %v", got, want)
		}
		return
	}
	if got.Error() != want.Error() {
		t.Errorf("error = %q, want %q", got, want)
	}
	var partial, wantPartial *lumi.PartialError
	if errors.As(want, &wantPartial) {
		if !errors.As(got, &partial) {
			t.Fatalf("error type = %T, want %T", got, want)
		}
		if diff := cmp.Diff(wantPartial.Properties, partial.Properties, sameBags); diff != "" ||
			partial.ID != wantPartial.ID {
			t.Errorf("%s of %q exists, want %q:\n%s", partial.Properties, partial.ID, wantPartial.ID, diff)
		}
		want, got = wantPartial.Err, partial.Err
	}
	expect.Equal(t, kindsOf(want), kindsOf(got), "the errors differ")
}

// kindsOf returns the errors in err's tree that have a type of package lumi, by type.
func kindsOf(err error) map[string]any {
	found := map[string]any{"not found": errors.Is(err, lumi.ErrNotFound)}
	var (
		invalid *lumi.InvalidError
		replace *lumi.ReplaceError
		output  *lumi.OutputError
		retry   *lumi.RetryError
		unknown *lumi.UncertainError
	)
	if err = lumi.Invalid(err); errors.As(err, &invalid) {
		found["invalid"] = invalid.Faults
	}
	if errors.As(err, &replace) {
		found["replace"] = replace.Paths
	}
	if errors.As(err, &output) {
		found["output"] = output.Faults
	}
	if errors.As(err, &retry) {
		found["retry"] = retry.After
	}
	found["uncertain"] = errors.As(err, &unknown)
	return found
}

func check(bag *structpb.Struct) func(context.Context, lumi.ResourceProvider) (any, error) {
	return func(ctx context.Context, p lumi.ResourceProvider) (any, error) {
		return p.Check(ctx, &lumi.CheckRequest{URN: thingURN, Properties: lumi.BagOf(bag)})
	}
}

func nameOf(u urn.URN, bag *structpb.Struct) func(context.Context, lumi.ResourceProvider) (any, error) {
	return func(ctx context.Context, p lumi.ResourceProvider) (any, error) {
		return p.Name(ctx, &lumi.NameRequest{URN: u, Properties: lumi.BagOf(bag)})
	}
}

func create(bag *structpb.Struct, refs lumi.References) func(context.Context, lumi.ResourceProvider) (any, error) {
	return func(ctx context.Context, p lumi.ResourceProvider) (any, error) {
		return p.Create(ctx, &lumi.CreateRequest{URN: thingURN, Properties: lumi.BagOf(bag), References: refs})
	}
}

func find(bag *structpb.Struct, token string) func(context.Context, lumi.ResourceProvider) (any, error) {
	return func(ctx context.Context, p lumi.ResourceProvider) (any, error) {
		return p.Find(ctx, &lumi.FindRequest{URN: thingURN, Properties: lumi.BagOf(bag), Token: token})
	}
}

func get(id lumi.ID) func(context.Context, lumi.ResourceProvider) (any, error) {
	return func(ctx context.Context, p lumi.ResourceProvider) (any, error) {
		return p.Get(ctx, &lumi.GetRequest{ID: id, Purpose: lumi.Import})
	}
}

func inspect(old, want *structpb.Struct) func(context.Context, lumi.ResourceProvider) (any, error) {
	return func(ctx context.Context, p lumi.ResourceProvider) (any, error) {
		return p.InspectChange(ctx, &lumi.InspectChangeRequest{URN: thingURN, ID: "t-1", Old: lumi.BagOf(old), New: lumi.BagOf(want)})
	}
}

func update(old, want *structpb.Struct) func(context.Context, lumi.ResourceProvider) (any, error) {
	return func(ctx context.Context, p lumi.ResourceProvider) (any, error) {
		return p.Update(ctx, &lumi.UpdateRequest{URN: thingURN, ID: "t-1", Old: lumi.BagOf(old), New: lumi.BagOf(want), Token: "u-1"})
	}
}

func remove(bag *structpb.Struct) func(context.Context, lumi.ResourceProvider) (any, error) {
	return func(ctx context.Context, p lumi.ResourceProvider) (any, error) {
		return p.Delete(ctx, &lumi.DeleteRequest{URN: thingURN, ID: "t-1", Properties: lumi.BagOf(bag), Token: "d-1"})
	}
}

func TestRefused(t *testing.T) {
	both(t, "plugin", func(t *testing.T, p called, process *child) {
		things := must.Get(p.Resource(thingToken))(t)
		for _, test := range []struct {
			name string
			call func(context.Context, lumi.ResourceProvider) (any, error)
			code codes.Code
			want string
		}{
			{"no URN", func(ctx context.Context, p lumi.ResourceProvider) (any, error) {
				return p.Check(ctx, &lumi.CheckRequest{Properties: lumi.BagOf(thingBag("nothing"))})
			}, codes.InvalidArgument, "the request has no URN"},
			{"no URN but a name", func(ctx context.Context, p lumi.ResourceProvider) (any, error) {
				return p.Check(ctx, &lumi.CheckRequest{URN: "x", Properties: lumi.BagOf(thingBag("nothing"))})
			}, codes.InvalidArgument, `the request's URN is malformed: "x": a URN must start with urn:lumi:`},
			{"another's URN", func(ctx context.Context, p lumi.ResourceProvider) (any, error) {
				return p.Delete(ctx, &lumi.DeleteRequest{URN: otherURN, ID: "t-1"})
			}, codes.InvalidArgument, "the request is for type test:index:Thing, but its URN is of type test:sub/module:Other"},
			{"no id", get(""), codes.InvalidArgument, "the request has no id"},
			{"panic", check(thingBag("panic")), codes.Internal, "the provider panicked: runtime error: index out of range" +
				" [7] with length 0"},
			{"gone in part", remove(thingBag("half-gone")), codes.Unknown, "no such resource\ncould not delete bucket"},
			{"nil partial", check(thingBag("nil-partial")), codes.Unknown, "partially done"},
			{"garbled", check(thingBag("garbled")), codes.Unknown, "not text: \ufffd"},
			{"malformed", check(thingBag("\xff")), codes.Internal, "the request has malformed properties: not a google.protobuf.Struct, or not valid UTF-8"},
		} {
			t.Run(test.name, func(t *testing.T) {
				_, err := test.call(within(t), things)
				var e *plugin.Error
				if !errors.As(err, &e) || e.Code != test.code || e.Message != test.want {
					t.Errorf("error = %v, want code %v, %s", err, test.code, test.want)
				}
			})
		}
		var uncertain *lumi.UncertainError
		if _, err := create(thingBag("nonsense"), nil)(within(t), things); !errors.As(err, &uncertain) ||
			err.Error() != `the provider returned an invalid result: the id is not valid UTF-8: "\xff"` {
			t.Errorf("Create with an id that is not UTF-8 returned %v, want an *UncertainError", err)
		}
		malformed := "the plugin returned malformed properties: not a google.protobuf.Struct, or not valid UTF-8"
		if _, err := create(thingBag("malformed"), nil)(within(t), things); !errors.As(err, &uncertain) || err.Error() != malformed {
			t.Errorf("Create with malformed results returned %v, want an *UncertainError: %s", err, malformed)
		}
		if process == nil {
			return
		}
		must.Do(t, process.Close()) // The log is complete now.
		if log := process.log.String(); !strings.Contains(log, "the provider panicked") || !strings.Contains(log, "ops.do(") {
			t.Errorf("log = %s, want the panic and its stack", log)
		}
	})
}

// Authors may return zero errors and typed nil pointers.
func TestZeroErrors(t *testing.T) {
	bothThings(t, func(t *testing.T, things lumi.ResourceProvider) {
		for do, test := range map[string]struct {
			kind any
			want string
		}{
			"zero-retry":   {new(*lumi.RetryError), "temporary failure"},
			"nil-retry":    {new(*lumi.RetryError), "temporary failure"},
			"zero-invalid": {new(*lumi.InvalidError), "oh: invalid properties"},
			"nil-invalid":  {new(*lumi.InvalidError), "invalid properties"},
			"zero-output": {new(*lumi.OutputError), "the provider returned an invalid result: no details from the" +
				" provider"},
			"nil-output": {new(*lumi.OutputError), "the provider returned an invalid result: no details from the" +
				" provider"},
			"nil-replace": {new(*lumi.ReplaceError), "the change requires a replacement, not an update"},
			"nil-partial": {new(*plugin.Error), "partially done"},
		} {
			for name, call := range map[string]func(context.Context, lumi.ResourceProvider) (any, error){
				"check":  check(thingBag(do)),
				"create": create(thingBag(do), nil),
				"update": update(thingBag("nothing"), thingBag(do)),
			} {
				if _, err := call(within(t), things); err == nil || !errors.As(err, test.kind) || err.Error() != test.want {
					t.Errorf("%s of %s returned %T %v, want %s", name, do, err, err, test.want)
				}
			}
		}
	})
}

func TestErrorBounds(t *testing.T) {
	bothThings(t, func(t *testing.T, things lumi.ResourceProvider) {
		_, err := check(thingBag("long"))(within(t), things)
		if err == nil || len(err.Error()) > maxMessage || len(err.Error()) < maxMessage-8 ||
			!strings.HasSuffix(err.Error(), "ä…") {
			t.Errorf("error message has %d bytes, want %d, truncated", len(fmt.Sprint(err)), maxMessage)
		}
		_, err = check(thingBag("faults"))(within(t), things)
		var invalid *lumi.InvalidError
		if !errors.As(err, &invalid) || len(invalid.Faults) < 500 ||
			invalid.Faults[len(invalid.Faults)-1].Message != "there may be more errors" {
			t.Errorf("Check error = %.1000v, want at least 500 faults, truncated", err)
		}
	})
}

// configuration returns a configuration with the given region and a secret password.
func configuration(region string) lumi.Bag {
	return lumi.BagOf(&structpb.Struct{Fields: map[string]*structpb.Value{
		"region": structpb.NewStringValue(region), "password": lumi.NewSecret(structpb.NewStringValue("hush hush")),
	}})
}

func TestConfigure(t *testing.T) {
	both(t, "configurable", func(t *testing.T, p called, process *child) {
		if process != nil && !process.Configurable {
			t.Error("Configurable = false, want true")
		}
		things := must.Get(p.Resource(thingToken))(t)
		refused := func(err error, code codes.Code) {
			t.Helper()
			var e *plugin.Error
			if !errors.As(err, &e) || e.Code != code {
				t.Errorf("error = %v, want code %v", err, code)
			}
		}
		invalid := func(err error, path lumi.Path) {
			t.Helper()
			var e *lumi.InvalidError
			if !errors.As(err, &e) || len(e.Faults) == 0 || e.Faults[0].Path != path {
				t.Errorf("error = %v, want a fault of %s", err, path)
			}
		}
		_, err := get("t-1")(within(t), things)
		refused(err, codes.FailedPrecondition)
		invalid(p.Configure(within(t), lumi.Bag{}), "region")
		invalid(p.Configure(within(t), configuration(wire.Unknown)), "region")
		invalid(p.Configure(within(t), configuration("nowhere")), "region")
		refused(p.Configure(within(t), configuration("panic")), codes.Internal)
		must.Do(t, p.Configure(within(t), configuration("here")))
		if process != nil {
			process.expect(t, "configured here hush hush")
		}
		refused(p.Configure(within(t), configuration("there")), codes.FailedPrecondition)
		must.Get(get("t-1")(within(t), things))(t)
		if process == nil {
			return
		}
		must.Do(t, process.Close())
		if log := process.log.String(); strings.Contains(log, "hush") {
			t.Errorf("the log contains a secret: %s", log)
		}
	})
}

func TestNoConfiguration(t *testing.T) {
	both(t, "plugin", func(t *testing.T, p called, _ *child) {
		must.Do(t, p.Configure(within(t), lumi.Bag{}))
		var invalid *lumi.InvalidError
		if err := p.Configure(within(t), lumi.BagOf(thingBag("nothing"))); !errors.As(err, &invalid) {
			t.Errorf("Configure error = %v, want an *InvalidError", err)
		}
	})
}

func TestConcurrent(t *testing.T) {
	bothThings(t, func(t *testing.T, things lumi.ResourceProvider) {
		ctx := within(t)
		var group sync.WaitGroup
		for i := range 200 {
			group.Go(func() {
				want := fmt.Sprint("number ", i)
				resp, err := create(thingBag("length", "fixed", want), nil)(ctx, things)
				if err != nil {
					t.Error(err)
					return
				}
				if got := resp.(*lumi.CreateResponse).Properties.Get("result"); got != want {
					t.Errorf("result = %q, want %q", got, want)
				}
			})
		}
		group.Wait()
	})
}

// A property of 64 MiB survives a round trip.
func TestLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("sends a property of 64 MiB")
	}
	things := start(t, "plugin").resource(t, thingToken)
	want := strings.Repeat("0123456789abcdef", 4<<20)
	resp := must.Get(things.Create(within(t), &lumi.CreateRequest{
		URN: thingURN, Properties: lumi.BagOf(thingBag("length", "fixed", want)),
	}))(t)
	if resp.Properties.Get("result") != want {
		t.Error("Create returned another result than the large value")
	}
	// Send 20 MiB in a partial failure. In an error, they would exceed the metadata limit.
	want = want[:20<<20]
	_, err := things.Create(within(t), &lumi.CreateRequest{
		URN: thingURN, Properties: lumi.BagOf(thingBag("partly fail", "fixed", want)),
	})
	var partial *lumi.PartialError
	if !errors.As(err, &partial) || partial.Properties.Get("fixed") != want {
		t.Error("Create did not return a *PartialError with the large value")
	}
}

// The log contains each call but none of its values.
func TestLog(t *testing.T) {
	t.Setenv("LUMI_LOG", "debug")
	p := start(t, "plugin")
	if _, err := check(thingBag("fail", "secret", "hush"))(within(t), p.resource(t, thingToken)); err == nil {
		t.Error("Check returned nil, want an error")
	}
	if err := p.Close(); err != nil { // The log is complete now.
		t.Error(err)
	}
	log := p.log.String()
	for _, want := range []string{"call=Handshake code=OK", "call=Check code=Unknown", "urn=" + thingURN} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %q:\n%s", want, log)
		}
	}
	if strings.Contains(log, "hush") {
		t.Errorf("the log contains a secret:\n%s", log)
	}
}

func TestEnvironment(t *testing.T) {
	things := start(t, "plugin").resource(t, thingToken)
	resp := must.Get(create(thingBag("environment"), nil)(within(t), things))(t)
	got := resp.(*lumi.CreateResponse).Properties.Get("result").(string)
	if !strings.Contains(got, roleVariable) || strings.Contains(got, "LUMI_PLUGIN_SECRET") {
		t.Errorf("environment = %q, want it to include %s but not the secret", got, roleVariable)
	}
}

func TestPrintToStdout(t *testing.T) {
	p := start(t, "plugin")
	must.Get(check(thingBag("print it"))(within(t), p.resource(t, thingToken)))(t)
	must.Do(t, p.Close())
	if log := p.log.String(); !strings.Contains(log, "it\n") {
		t.Errorf("log = %q, want it to include the printed line", log)
	}
}
