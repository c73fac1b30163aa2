package lumi_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// everything has a property of every kind, with every flag.
type everything struct {
	Bool        bool
	Number      *float64
	String      string
	Enum        size
	List        []sized
	Map         map[string]string
	EnumMap     map[size][]string
	Struct      sized
	Any         any
	Asset       lumi.Asset
	Archive     *lumi.Archive
	Resource    urn.URN
	AnyResource *urn.URN
}

func (e *everything) Lumi(p *lumi.Props) {
	lumi.Required(p, "bool", &e.Bool, lumi.Bool)
	lumi.Optional(p, "number", &e.Number, lumi.Number, lumi.Out)
	lumi.Required(p, "string", &e.String, lumi.String, lumi.Replaces, lumi.Secret)
	lumi.Required(p, "enum", &e.Enum, lumi.Enum[*size](), lumi.In)
	lumi.Nilable(p, "list", &e.List, lumi.List(lumi.Struct[*sized]()))
	lumi.Nilable(p, "map", &e.Map, lumi.Map(lumi.String), lumi.In, lumi.Secret)
	lumi.Nilable(p, "enumMap", &e.EnumMap, lumi.EnumMap(lumi.Enum[*size](), lumi.List(lumi.String)))
	lumi.Required(p, "struct", &e.Struct, lumi.Struct[*sized](), lumi.Out)
	lumi.Nilable(p, "any", &e.Any, lumi.Any)
	lumi.Required(p, "asset", &e.Asset, lumi.AssetValue)
	lumi.Optional(p, "archive", &e.Archive, lumi.ArchiveValue)
	lumi.Required(p, "resource", &e.Resource, lumi.Capability("aws:ec2:VPC"), lumi.Replaces)
	lumi.Optional(p, "anyResource", &e.AnyResource, lumi.AnyResource)
}

func TestDescribe(t *testing.T) {
	want := []lumi.Property{
		{Name: "bool", Kind: lumi.KindBool, Required: true},
		{Name: "number", Kind: lumi.KindNumber, Flags: lumi.Out},
		{Name: "string", Kind: lumi.KindString, Flags: lumi.Replaces | lumi.Secret, Required: true},
		{Name: "enum", Kind: lumi.KindString, Flags: lumi.In, Required: true},
		{Name: "list", Kind: lumi.KindList},
		{Name: "map", Kind: lumi.KindMap, Flags: lumi.In | lumi.Secret},
		{Name: "enumMap", Kind: lumi.KindMap},
		{Name: "struct", Kind: lumi.KindObject, Flags: lumi.Out, Required: true},
		{Name: "any", Kind: lumi.KindAny},
		{Name: "asset", Kind: lumi.KindAsset, Required: true},
		{Name: "archive", Kind: lumi.KindArchive},
		{Name: "resource", Kind: lumi.KindCapability, Flags: lumi.Replaces, Required: true},
		{Name: "anyResource", Kind: lumi.KindCapability},
	}
	empty := &everything{}
	if diff := cmp.Diff(want, lumi.Describe(empty)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !reflect.DeepEqual(empty, &everything{}) {
		t.Errorf("describing set %+v", empty)
	}
	if got := lumi.Describe(&nothing{}); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}

// nothing has no properties.
type nothing struct{}

func (*nothing) Lumi(*lumi.Props) {}

// TestDescribeProvider asks providers with and without optional operations.
func TestDescribeProvider(t *testing.T) {
	for name, test := range map[string]struct {
		provider lumi.Provider
		want     lumi.Description
	}{
		"plain":   {lumi.NewNamedProvider("a:b:C", newSized, lumi.Ops[*sized](plainOps{})), lumi.Description{Named: true}},
		"unnamed": {lumi.NewProvider("a:b:C", newSized, lumi.NamingOps[*sized](plainOps{})), lumi.Description{}},
		"all": {
			lumi.NewNamedProvider("a:b:C", newSized, lumi.Ops[*sized](findingOps{again: true})),
			lumi.Description{Named: true, CanFind: true, IdempotentCreate: true},
		},
		"not again": {
			lumi.NewNamedProvider("a:b:C", newSized, lumi.Ops[*sized](findingOps{})), lumi.Description{Named: true, CanFind: true},
		},
	} {
		got, err := test.provider.Describe(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		test.want.Type = "a:b:C"
		test.want.Properties = []lumi.Property{{Name: "size", Kind: lumi.KindString, Required: true}}
		if diff := cmp.Diff(&test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func newSized() *sized { return &sized{} }

// plainOps has what every author must write, and does nothing.
type plainOps struct{}

func (plainOps) Check(context.Context, *lumi.State[*sized]) error { return nil }

func (plainOps) Name(context.Context, *lumi.State[*sized]) (string, error) { return "x", nil }

func (plainOps) Create(context.Context, *lumi.State[*sized]) (lumi.ID, error) { return "x", nil }

func (plainOps) Get(context.Context, lumi.ID, *lumi.State[*sized]) (*sized, error) {
	return nil, lumi.ErrNotFound
}

func (plainOps) Update(_ context.Context, _, _ *lumi.State[*sized], _ *lumi.Diff) error { return nil }

func (plainOps) Delete(context.Context, *lumi.State[*sized]) error { return nil }

// findingOps can find, and perhaps create again.
type findingOps struct {
	plainOps
	again bool
}

func (findingOps) Find(context.Context, *lumi.State[*sized]) (lumi.ID, error) { return "x", nil }

func (f findingOps) IdempotentCreate() bool { return f.again }
