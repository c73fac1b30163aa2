package lumi_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
	testnet "github.com/lumi-idl/lumi/test/testprovider/net"
)

type plainOps struct{ testnet.NetworkProviderOps }

// finder implements Find, and idempotent implements IdempotentCreate. They are for embedding.
type (
	finder struct {
		find func(want *lumi.State[*network]) (lumi.ID, error)
	}
	idempotent bool
	repeatable bool
)

func (f *finder) Find(_ context.Context, want *lumi.State[*network]) (lumi.ID, error) {
	return f.find(want)
}

func (i idempotent) IdempotentCreate() bool { return bool(i) }

func (r repeatable) RepeatableChange() bool { return bool(r) }

func TestDescribeProvider(t *testing.T) {
	tests := []struct {
		name     string
		provider interface {
			lumi.ResourceProvider
			Token() tokens.Type
		}
		named                        bool
		find, idempotent, repeatable bool
		properties                   lumi.Object
	}{
		{"named", testnet.NewNetworkProvider(plainOps{}), true, false, false, false, &network{}},
		{"unnamed", testnet.NewGatewayProvider(gatewayOps{}), false, false, false, false, &gateway{}},
		{"with Find", testnet.NewNetworkProvider(struct {
			plainOps
			*finder
		}{}), true, true, false, false, &network{}},
		{"idempotent", testnet.NewNetworkProvider(struct {
			plainOps
			idempotent
		}{idempotent: true}), true, false, true, false, &network{}},
		{"IdempotentCreate returns false", testnet.NewNetworkProvider(struct {
			plainOps
			idempotent
		}{}), true, false, false, false, &network{}},
		{"repeatable", testnet.NewNetworkProvider(struct {
			plainOps
			repeatable
		}{repeatable: true}), true, false, false, true, &network{}},
		{"RepeatableChange returns false", testnet.NewNetworkProvider(struct {
			plainOps
			repeatable
		}{}), true, false, false, false, &network{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := must.Get(test.provider.Describe(t.Context()))(t)
			want := &lumi.Description{
				Type: test.provider.Token(), Named: test.named, CanFind: test.find, IdempotentCreate: test.idempotent,
				RepeatableChange: test.repeatable, Properties: lumi.Describe(test.properties),
			}
			expect.Equal(t, want, got)
		})
	}
	want := []lumi.Property{
		{Name: "note", Kind: lumi.KindString}, {Name: "kind", Kind: lumi.KindString, Flags: lumi.Replaces, Required: true},
		{Name: "ip", Kind: lumi.KindString, Flags: lumi.Out},
	}
	expect.Equal(t, want, lumi.Describe(&gateway{}))
}

// Each of these types has an invalid optional method.
type (
	wrongFind       struct{ plainOps }
	wrongUpgrade    struct{ plainOps }
	wrongInspect    struct{ *anyInspector }
	anyInspector    struct{ plainOps }
	wrongCreate     struct{ plainOps }
	misspelled      struct{ plainOps }
	misspelledInner interface {
		testnet.NetworkProviderOps
		Upgrades(context.Context, *lumi.State[*network], lumi.Bag) error
	}
	pointerFind  struct{ plainOps }
	repeats      struct{ plainOps }
	repeatsOften struct{ plainOps }
)

func (wrongFind) Find(context.Context, lumi.ID) (lumi.ID, error) { return "", nil }

func (wrongUpgrade) Upgrade(_ context.Context, _ *lumi.State[*gateway], _ map[string][]*lumi.Asset) {}

func (*anyInspector) InspectChange(_ context.Context, _, _ *lumi.State[*network], _ lumi.Diff) error {
	return nil
}

func (wrongCreate) IdempotentCreate(context.Context) bool { return true }

func (repeats) RepeatableChange(*lumi.State[*network]) bool { return true }

func (repeatsOften) RepeatableChanges() bool { return true }

func (misspelled) InspectChanges(_ context.Context, _, _ *lumi.State[*network], _ *lumi.Diff) error {
	return nil
}

func (*pointerFind) Find(context.Context, *lumi.State[*network]) (lumi.ID, error) { return "", nil }

func TestUncalledMethods(t *testing.T) {
	const wrong = "lumi: the operations of feature:net:Network have an optional method with the wrong signature:\n"
	tests := []struct {
		ops  testnet.NetworkProviderOps
		want string
	}{
		{wrongFind{}, wrong + "\thave Find(context.Context, lumi.ID) (lumi.ID, error)\n" +
			"\twant Find(context.Context, *lumi.State[*net.network]) (lumi.ID, error)"},
		{wrongUpgrade{}, wrong + "\thave Upgrade(context.Context, *lumi.State[*net.gateway], map[string][]*lumi.Asset)\n" +
			"\twant Upgrade(context.Context, *lumi.State[*net.network], lumi.Bag) error"},
		{wrongInspect{}, wrong +
			"\thave InspectChange(context.Context, *lumi.State[*net.network], *lumi.State[*net.network], lumi.Diff) error\n" +
			"\twant InspectChange(context.Context, *lumi.State[*net.network], *lumi.State[*net.network], *lumi.Diff) error"},
		{&wrongCreate{}, wrong + "\thave IdempotentCreate(context.Context) bool\n\twant IdempotentCreate() bool"},
		{repeats{}, wrong + "\thave RepeatableChange(*lumi.State[*net.network]) bool\n\twant RepeatableChange() bool"},
		{repeatsOften{}, "lumi: the operations of feature:net:Network have a method RepeatableChanges, which is never called; " +
			"did you mean RepeatableChange?"},
		{misspelled{}, "lumi: the operations of feature:net:Network have a method InspectChanges, which is never called; " +
			"did you mean InspectChange?"},
		{struct{ misspelledInner }{}, "lumi: the operations of feature:net:Network have a method Upgrades, which is never " +
			"called; did you mean Upgrade?"},
		{pointerFind{}, "lumi: the operations of feature:net:Network have an optional method Find with a pointer receiver: " +
			"pass a pointer, not a value"},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("%T", test.ops), func(t *testing.T) {
			defer func() {
				expect.Equal(t, any(test.want), recover())
			}()
			testnet.NewNetworkProvider(test.ops)
		})
	}
}

// unrelated has methods whose names are similar to those of optional ones.
type unrelated struct{ plainOps }

func (unrelated) Finds(string) int                                               { return 0 }
func (unrelated) Find(context.Context, *lumi.State[*network]) (lumi.ID, error)   { return "", nil }
func (unrelated) Find2(context.Context, *lumi.State[*network]) (lumi.ID, error)  { return "", nil }
func (unrelated) Lookup(context.Context, *lumi.State[*network]) (lumi.ID, error) { return "", nil }
func (unrelated) Upgraded() bool                                                 { return true }
func (unrelated) String() string                                                 { return "" }
func (unrelated) Inspect(_ context.Context, _, _ *lumi.State[*network], _ *lumi.Diff) error {
	return nil
}

func TestUnrelatedMethods(t *testing.T) {
	for _, ops := range []testnet.NetworkProviderOps{
		unrelated{}, &unrelated{}, plainOps{}, &plainOps{}, &pointerFind{}, &networkOps{}, (*networkOps)(nil),
		struct{ *networkOps }{}, struct {
			plainOps
			lumi.Upgrader[*network]
		}{},
	} {
		testnet.NewNetworkProvider(ops)
	}
}

func TestWithoutInspectChange(t *testing.T) {
	p := testnet.NewNetworkProvider(plainOps{})
	wanted := with(t, minimal, `{"cidr": "10.1.0.0/16", "limit": 1}`)
	resp := must.Get(p.InspectChange(t.Context(), &lumi.InspectChangeRequest{Old: bag(t, minimal), New: wanted}))(t)
	if !same(wanted, resp.Properties) || resp.DeleteBeforeReplace {
		t.Errorf("InspectChange = %+v, want properties %v without DeleteBeforeReplace", resp, wanted)
	}
	want := []string{`~ cidr: "10.0.0.0/8" -> "10.1.0.0/16"`, "+ limit: 1"}
	expect.Equal(t, want, lines(resp.Changes), "changes")
	expect.Equal(t, []lumi.Path{"cidr"}, resp.Replaces, "replaces")
}

func TestFind(t *testing.T) {
	f := &finder{}
	p := testnet.NewNetworkProvider(struct {
		plainOps
		*finder
	}{finder: f})
	req := &lumi.FindRequest{URN: networkURN, Token: "t-1", Properties: bag(t, minimal)}
	down := errors.New("the cloud is down")
	tests := []struct {
		name string
		id   lumi.ID
		err  error
		want string
		is   error
	}{
		{"found", "n-1", nil, "", nil},
		{"not found", "", lumi.ErrNotFound, "no such resource", lumi.ErrNotFound},
		{"not found, wrapped", "", fmt.Errorf("tag t-1: %w", lumi.ErrNotFound), "tag t-1: no such resource", lumi.ErrNotFound},
		{"failed", "", down, "the cloud is down", down},
		{"timeout", "", context.DeadlineExceeded, "context deadline exceeded", context.DeadlineExceeded},
		{"a fault", "", lumi.Faultf(testnet.Network_CIDR, "is odd"), "cidr: is odd", nil},
		{"an empty id", "", nil, "the provider returned an invalid result: the id is empty; return " +
			"lumi.ErrNotFound if there is no resource", nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f.find = func(want *lumi.State[*network]) (lumi.ID, error) {
				if want.Token != "t-1" || want.URN != networkURN || want.Properties.CIDR != "10.0.0.0/8" {
					t.Errorf("Find called with %+v, want the URN, token, and properties of the request", want)
				}
				return test.id, test.err
			}
			resp, err := p.Find(t.Context(), req)
			switch {
			case test.want == "" && (err != nil || resp.ID != test.id):
				t.Errorf("Find = %v, %v, want %s", resp, err, test.id)
			case test.want != "" && (err == nil || err.Error() != test.want || test.is != nil && !errors.Is(err, test.is)):
				t.Errorf("Find error = %v, want %s", err, test.want)
			case errors.As(err, new(*lumi.UncertainError)):
				t.Errorf("Find error = %v, want no *UncertainError", err)
			}
		})
	}
	_, err := p.Find(t.Context(), &lumi.FindRequest{Properties: with(t, minimal, `{"cidr": "$unknown"}`)})
	if !errors.As(err, new(*lumi.InvalidError)) {
		t.Errorf("Find error = %v, want an *InvalidError", err)
	}
}

func TestFindUnsupported(t *testing.T) {
	_, err := testnet.NewNetworkProvider(plainOps{}).Find(t.Context(), &lumi.FindRequest{Properties: bag(t, minimal)})
	const want = "the provider cannot find resources of type feature:net:Network: unsupported operation"
	if !errors.Is(err, errors.ErrUnsupported) || err.Error() != want {
		t.Errorf("Find error = %v, want %s", err, want)
	}
}
