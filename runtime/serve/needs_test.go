package serve

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/lumirpc"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestDescribe(t *testing.T) {
	p := start(t, "configurable")
	const replaces, secret, out = lumi.Replaces, lumi.Secret, lumi.Out
	properties := []lumi.Property{
		{Name: "name", Kind: lumi.KindString, Flags: replaces, Required: true},
		{Name: "do", Kind: lumi.KindString, Required: true},
		{Name: "fixed", Kind: lumi.KindString, Flags: replaces},
		{Name: "secret", Kind: lumi.KindString, Flags: secret},
		{Name: "list", Kind: lumi.KindList},
		{Name: "code", Kind: lumi.KindArchive},
		{Name: "vault", Kind: lumi.KindMap},
		{Name: "password", Kind: lumi.KindString, Flags: secret | out},
		{Name: "attachments", Kind: lumi.KindMap},
		{Name: "result", Kind: lumi.KindString, Flags: out},
	}
	thing := &lumi.Description{
		Type: thingToken, Named: true, CanFind: true, IdempotentCreate: true, RepeatableChange: true, Properties: properties,
		Name: lumi.NameRules{MinLength: 1, MaxLength: 63, Pattern: "^[^ ]", Scope: "fixed"},
	}
	other := &lumi.Description{Type: otherToken, Properties: properties}
	search := &lumi.Description{Type: searchToken, Function: true, Properties: []lumi.Property{
		{Name: "do", Kind: lumi.KindString, Required: true},
		{Name: "secret", Kind: lumi.KindString, Flags: secret},
		{Name: "attached", Kind: lumi.KindAsset},
		{Name: "result", Kind: lumi.KindString, Flags: out, Required: true},
		{Name: "token", Kind: lumi.KindString, Flags: secret | out},
		{Name: "list", Kind: lumi.KindList, Flags: out, Required: true},
	}}
	got, err := p.Describe(within(t))
	if diff := cmp.Diff([]*lumi.Description{search, thing, other}, got); diff != "" || err != nil {
		t.Errorf("Describe() error = %v (-want +got):\n%s", err, diff)
	}
	got, err = p.Describe(within(t), otherToken, thingToken)
	if diff := cmp.Diff([]*lumi.Description{other, thing}, got); diff != "" || err != nil {
		t.Errorf("Describe in another order: error = %v (-want +got):\n%s", err, diff)
	}
	one, err := p.resource(t, otherToken).Describe(within(t))
	if diff := cmp.Diff(other, one); diff != "" || err != nil {
		t.Errorf("Describe of one type: error = %v (-want +got):\n%s", err, diff)
	}
	_, err = p.Describe(within(t), thingToken, "test:index:Nothing")
	if want := `the plugin for package "test" does not serve type "test:index:Nothing"`; !errors.Is(err, errors.ErrUnsupported) ||
		err.Error() != want {
		t.Errorf("Describe error = %v, want %s", err, want)
	}
}

func TestFind(t *testing.T) {
	p := start(t, "plugin")
	things, bag := p.resource(t, thingToken), lumi.BagOf(thingBag("token"))
	created, err := things.Create(within(t), &lumi.CreateRequest{URN: thingURN, Properties: bag, Token: "token-1"})
	if err != nil || created.Properties.Get("result") != "token-1" {
		t.Errorf("Create = %v, %v, want result token-1", created, err)
	}
	found, err := things.Find(within(t), &lumi.FindRequest{URN: thingURN, Properties: bag, Token: "token-1"})
	if err != nil || found.ID != "t-token-1" {
		t.Errorf("Find = %v, %v, want t-token-1", found, err)
	}
	if _, err := find(thingBag("missing it"), "x")(within(t), things); !errors.Is(err, lumi.ErrNotFound) ||
		err.Error() != "it: no such resource" {
		t.Errorf("Find without a resource returned %v, want ErrNotFound", err)
	}
	var output *lumi.OutputError
	if _, err := find(thingBag("nonsense"), "x")(within(t), things); !errors.As(err, &output) || isUncertain(err) ||
		err.Error() != `the provider returned an invalid result: the id is not valid UTF-8: "\xff"` {
		t.Errorf("Find with an id that is not UTF-8 returned %v, want an *OutputError", err)
	}
	_, err = p.resource(t, otherToken).Find(within(t), &lumi.FindRequest{URN: otherURN, Properties: bag})
	want := "the provider cannot find resources of type test:sub/module:Other: unsupported operation"
	if !errors.Is(err, errors.ErrUnsupported) || err.Error() != want {
		t.Errorf("Find error = %v, want %s", err, want)
	}
}

func TestUnsupported(t *testing.T) {
	things, bag := start(t, "plugin").resource(t, thingToken), thingBag("unsupported")
	for name, call := range map[string]func(context.Context, lumi.ResourceProvider) (any, error){
		"Create": create(bag, nil), "Find": find(bag, "x"), "Delete": remove(bag),
	} {
		_, err := call(within(t), things)
		var e *plugin.Error
		if !errors.As(err, &e) || e.Code != codes.Unknown || err.Error() != "link: unsupported operation" {
			t.Errorf("%s returned %T %v, want code Unknown", name, err, err)
		}
	}
}

func TestDefaults(t *testing.T) {
	things := start(t, "plugin").resource(t, thingToken)
	seed := lumi.Seed("\x00\xffseed")
	for _, old := range []lumi.Bag{{}, lumi.BagOf(thingBag("old"))} {
		resp := must.Get(things.Check(within(t), &lumi.CheckRequest{
			URN: thingURN, Properties: lumi.BagOf(thingBag("defaults")), Old: old, Seed: seed,
		}))(t)
		if got, want := resp.Properties.Get("fixed"), seed.Name("n-", 8, lumi.LowerAlphanumeric); got != want {
			t.Errorf("fixed = %v, want %s", got, want)
		}
		if list := resp.Properties.Get("list"); old.IsZero() != (list == nil) || list != nil && list.([]any)[0] != "old" {
			t.Errorf("list with old properties %v = %v, want the old one", old, list)
		}
	}
}

func TestIgnore(t *testing.T) {
	things := start(t, "plugin").resource(t, thingToken)
	old, want := thingBag("nothing", "secret", "old secret"), thingBag("ignore", "secret", "new secret", "fixed", "x")
	old.Fields["secret"] = lumi.NewSecret(structpb.NewStringValue("old secret"))
	answer := must.Get(inspect(old, want)(within(t), things))(t)
	got := answer.(*lumi.InspectChangeResponse)
	kept := thingBag("nothing", "fixed", "x")
	kept.Fields["secret"] = old.GetFields()["secret"]
	if diff := cmp.Diff(lumi.BagOf(kept), got.Properties, sameBags); diff != "" {
		t.Errorf("properties (-want +got):\n%s", diff)
	}
	if len(got.Changes) != 1 || got.Changes[0].String() != `+ fixed: "x"` || len(got.Replaces) != 1 || got.DeleteBeforeReplace {
		t.Errorf("InspectChange = %v, %v, %v, want 1 change, 1 replacement", got.Changes, got.Replaces, got.DeleteBeforeReplace)
	}
	answer = must.Get(inspect(thingBag("nothing"), thingBag("delete first"))(within(t), things))(t)
	got = answer.(*lumi.InspectChangeResponse)
	if !got.DeleteBeforeReplace {
		t.Error("DeleteBeforeReplace = false, want true")
	}
	if diff := cmp.Diff(lumi.BagOf(thingBag("delete first")), got.Properties, sameBags); diff != "" {
		t.Errorf("properties without ignored changes (-want +got):\n%s", diff)
	}
}

func TestGet(t *testing.T) {
	things := start(t, "plugin").resource(t, thingToken)
	refresh := &lumi.GetRequest{
		Purpose: lumi.Refresh, ID: "t-1", URN: thingURN, Old: lumi.BagOf(thingBag("old")),
		References: lumi.References{otherURN: {ID: "o-1"}},
	}
	resp, err := things.Get(within(t), refresh)
	if err != nil {
		t.Fatal(err)
	}
	expect.Equal(t, []any{thingURN, "t-1", "old", "o-1"}, resp.Properties.Get("list"), "refresh")
	for _, u := range []urn.URN{"", thingURN} {
		resp, err = things.Get(within(t), &lumi.GetRequest{Purpose: lumi.Import, ID: "t-1", URN: u})
		if err != nil || resp.Properties.Get("list") != nil {
			t.Errorf("Get for an import = %v, %v, want no list", resp, err)
		}
	}
}

// Malformed requests do not reach the provider.
func TestMalformed(t *testing.T) {
	b := startBare(t)
	client, conn := b.dial(t)
	b.greet(t, client)
	const (
		refresh, imported = lumirpc.GetRequest_REFRESH, lumirpc.GetRequest_IMPORT
		thing, name       = string(thingToken), thingURN
	)
	old := thingBag("old")
	for _, test := range []struct {
		method string
		req    any
		want   string
	}{
		{"Get", &lumirpc.GetRequest{Type: thing, Id: "x", Urn: name}, "the request's purpose must be REFRESH or IMPORT, found PURPOSE_UNSPECIFIED"},
		{"Get", &lumirpc.GetRequest{Type: thing, Id: "x", Urn: name, Purpose: 7}, "the request's purpose must be REFRESH or IMPORT, found 7"},
		{"Get", &lumirpc.GetRequest{Type: thing, Urn: name, Purpose: imported}, "the request has no id"},
		{"Get", &lumirpc.GetRequest{Type: thing, Id: "x", Purpose: imported, Old: old}, "an IMPORT request must not have old properties"},
		{"Get", &lumirpc.GetRequest{Type: thing, Id: "x", Urn: name, Purpose: refresh}, "a REFRESH request must have old properties"},
		{"Get", &lumirpc.GetRequest{Type: thing, Id: "x", Purpose: refresh, Old: old}, "the request has no URN"},
		{"Get", &lumirpc.GetRequest{Type: thing, Id: "x", Purpose: imported, Urn: otherURN}, "the request is for type test:index:Thing, but its URN is of type test:sub/module:Other"},
		{"Get", &lumirpc.GetRequest{Type: thing, Id: "x", Purpose: imported, Urn: "x"}, `the request's URN is malformed: "x": a URN must start with urn:lumi:`},
		{"Find", &lumirpc.FindRequest{Type: thing, Token: "x"}, "the request has no URN"},
		{"Check", &lumirpc.CheckRequest{Type: thing}, "the request has no URN"},
		{"Create", &lumirpc.CreateRequest{Type: thing, Urn: otherURN}, "the request is for type test:index:Thing, but its URN is of type test:sub/module:Other"},
		{"Update", &lumirpc.UpdateRequest{Type: thing, Urn: name}, "the request has no id"},
		{"InspectChange", &lumirpc.InspectChangeRequest{Type: thing, Urn: name}, "the request has no id"},
		{"Delete", &lumirpc.DeleteRequest{Type: thing, Urn: name}, "the request has no id"},
	} {
		err := conn.Invoke(with(within(t), bareSecret), "/lumirpc.ResourceProvider/"+test.method, test.req, &lumirpc.CancelResponse{})
		s := status.Convert(err)
		if s.Code() != codes.InvalidArgument || s.Message() != test.want || len(s.Details()) > 0 {
			t.Errorf("%s of %v returned %v, want %s", test.method, test.req, s, test.want)
		}
	}
}
