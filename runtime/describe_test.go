package lumi_test

import (
	"reflect"
	"testing"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/test/kit/expect"
)

// everything has properties of all kinds and with all flags.
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
	expect.Equal(t, want, lumi.Describe(empty))
	if !reflect.DeepEqual(empty, &everything{}) {
		t.Errorf("Describe changed the object to %+v, want it unchanged", empty)
	}
	if got := lumi.Describe(&nothing{}); len(got) != 0 {
		t.Errorf("Describe = %v, want no properties", got)
	}
}

type nothing struct{}

func (*nothing) Lumi(*lumi.Props) {}

// Every method of Codec would be compiled for each generated struct and enum, which takes most of a provider's build time.
func TestCodecHasNoMethods(t *testing.T) {
	if n := reflect.TypeFor[*lumi.Codec[*string]]().NumMethod(); n != 0 {
		t.Errorf("Codec has %d methods; write functions that return an Option instead", n)
	}
}
