package tfserve

import (
	"fmt"
	"math"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"
	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/adapter/internal/bridge"
	"github.com/lumi-idl/lumi/idl/schema"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
)

var testNames = must1(typeNames("acme", []string{"acme:index:Disk", "acme:net:VPC"}))

func must1[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestValuesSurvive(t *testing.T) { rapid.Check(t, valuesSurvive) }

func FuzzValuesSurvive(f *testing.F) { f.Fuzz(rapid.MakeFuzz(valuesSurvive)) }

// valuesSurvive checks that properties survive OpenTofu, and that what Check has not changed keeps the form that a configuration gave it.
func valuesSurvive(t *rapid.T) {
	r := &schema.Resource{Header: schema.Header{Name: "Root"}, Token: "acme:index:Root"}
	r.Properties = typeMaker{t, []schema.Decl{}}.properties(2)
	s := newShapes(testNames).resource(r)
	bag := valueMaker{t, true}.bag(s)
	encoded := s.encodeBag("x", bag)
	overWire(t, s.typ, encoded)
	if got := s.decodeBag(encoded); !sameBags(got, bag) {
		t.Fatalf("%v\n%s\ncame back as\n%s", s.typ, text(bag), text(got))
	}
	config := configMaker{t}.object(s)
	overWire(t, s.typ, config)
	was := s.decodeBag(config)
	if _, err := protojson.Marshal(was.Struct()); err != nil { // A value is nil.
		t.Fatal(err)
	}
	if got := s.overlayBag(nil, config, was, was); !got.Equal(config) {
		t.Fatalf("%v\nbecame\n%v", config, got)
	}
	overWire(t, s.typ, s.encodeBag(nil, lumi.BagOf(valueMaker{t, true}.json(3, "object").GetStructValue()))) // whatever it is
	now := lumi.BagOf(valueMaker{t, true}.mutated(s, structpb.NewStructValue(was.Struct())).GetStructValue())
	overlaid := s.overlayBag(nil, config, was, now)
	overWire(t, s.typ, overlaid)
	if got := s.decodeBag(overlaid); !sameBags(got, now) {
		t.Fatalf("%v\n%s over\n%v\nis\n%s", s.typ, text(now), config, text(got))
	}
}

func sameBags(a, b lumi.Bag) bool {
	return same(structpb.NewStructValue(a.Struct()), structpb.NewStructValue(b.Struct()))
}

func text(b lumi.Bag) string { return protojson.Format(b.Struct()) }

// overWire checks that a value survives the protocol.
func overWire(t *rapid.T, typ tftypes.Type, v tftypes.Value) {
	sent, err := tfprotov6.NewDynamicValue(typ, v)
	if err != nil {
		t.Fatalf("%v: %v", v, err)
	}
	if got, err := sent.Unmarshal(typ); err != nil || !got.Equal(v) {
		t.Fatalf("%v\narrives as\n%v %v", v, got, err)
	}
}

// typeMaker makes types. around holds the structs that contain them.
type typeMaker struct {
	*rapid.T
	around []schema.Decl
}

func (m typeMaker) properties(depth int) []*schema.Property {
	all := make([]*schema.Property, rapid.IntRange(1, 4).Draw(m.T, "properties"))
	for i := range all {
		all[i] = &schema.Property{
			Field: fmt.Sprintf("Field%c", 'A'+i), Name: fmt.Sprintf("field%c", 'A'+i), Type: m.typ(depth), Optional: true,
			Secret: rapid.Bool().Draw(m.T, "secret"),
		}
	}
	return all
}

func (m typeMaker) typ(depth int) schema.Type {
	kinds := []string{"primitive", "primitive", "vpc", "disks", "around"}
	if depth > 0 {
		kinds = append(kinds, "list", "map", "struct", "union", "list", "map", "struct")
	}
	switch kind := rapid.SampledFrom(kinds).Draw(m.T, "kind"); kind {
	case "vpc":
		return &schema.Ref{Decl: &schema.Resource{Token: "acme:net:VPC"}}
	case "disks":
		u := &schema.Union{}
		for _, token := range []string{"acme:net:VPC", "acme:index:Disk"} {
			u.Variants = append(u.Variants, &schema.Property{Type: &schema.Ref{Decl: &schema.Resource{Token: token}}})
		}
		return &schema.Ref{Decl: u}
	case "list":
		return &schema.List{Elem: m.typ(depth - 1)}
	case "map":
		return &schema.Map{Key: schema.String, Elem: m.typ(depth - 1)}
	case "struct":
		s := &schema.Struct{}
		m.around = append(m.around, s)
		s.Properties = m.properties(depth - 1)
		return &schema.Ref{Decl: s}
	case "union":
		u := &schema.Union{}
		m.around = append(m.around, u)
		for i := range 2 {
			s := &schema.Struct{}
			variant := typeMaker{m.T, append(m.around, s)}
			s.Properties = variant.properties(depth - 1)
			u.Variants = append(u.Variants, &schema.Property{
				Field: fmt.Sprintf("V%d", i), Name: fmt.Sprintf("v%d", i), Type: &schema.Ref{Decl: s}, Optional: true,
			})
		}
		return &schema.Ref{Decl: u}
	case "around":
		if len(m.around) > 0 {
			return &schema.Ref{Decl: rapid.SampledFrom(m.around).Draw(m.T, "recursion")}
		}
	}
	return rapid.SampledFrom([]schema.Primitive{
		schema.Bool, schema.Number, schema.Int, schema.String, schema.Any, schema.Asset, schema.Archive, schema.AnyResource,
	}).Draw(m.T, "primitive")
}

// valueMaker makes values in wire form, with unknown values if unknown is set.
type valueMaker struct {
	*rapid.T
	unknown bool
}

func (m valueMaker) chance(label string, outOf int) bool {
	return rapid.IntRange(1, outOf).Draw(m.T, label) == 1
}

func (m valueMaker) bag(s *shape) lumi.Bag { return lumi.BagOf(m.fields(s, 4).GetStructValue()) }

func (m valueMaker) fields(s *shape, depth int) *structpb.Value {
	fields := map[string]*structpb.Value{}
	for _, a := range s.attributes {
		if s.signature == "" && depth > 0 && m.chance("set", 2) {
			fields[a.wire] = m.value(a.shape, depth-1)
		}
	}
	if s.signature != "" {
		fields[wire.Signature] = structpb.NewStringValue(s.signature)
		fields["path"] = structpb.NewStringValue("./x")
		if m.chance("hash", 2) {
			fields[hashName] = structpb.NewStringValue("abc")
		}
	}
	return structpb.NewStructValue(&structpb.Struct{Fields: fields})
}

func (m valueMaker) value(s *shape, depth int) *structpb.Value {
	if m.unknown && m.chance("unknown", 6) {
		return lumi.NewUnknown()
	}
	if m.chance("secret", 6) {
		return lumi.NewSecret(m.value(s, depth))
	}
	switch s.kind {
	case anything:
		return m.json(depth)
	case list:
		var values []*structpb.Value
		for range rapid.IntRange(0, 2).Draw(m.T, "elements") {
			values = append(values, m.value(s.elem, depth-1))
		}
		return structpb.NewListValue(&structpb.ListValue{Values: values})
	case mapping:
		fields := map[string]*structpb.Value{}
		for i := range rapid.IntRange(0, 2).Draw(m.T, "elements") {
			fields[fmt.Sprint("k", i)] = m.value(s.elem, depth-1)
		}
		return structpb.NewStructValue(&structpb.Struct{Fields: fields})
	case object:
		return m.fields(s, depth)
	case jsonText:
		return valueMaker{m.T, false}.fields(s.elem, depth) // JSON has no unknown parts.
	case reference:
		return structpb.NewStringValue(string(urn.ByID(s.token, "id")))
	case anyType:
		token := rapid.SampledFrom([]tokens.Type{"acme:net:VPC", "other:index:Thing"}).Draw(m.T, "token")
		return structpb.NewStringValue(string(urn.ByID(token, "id")))
	}
	return m.scalar(s.typ)
}

func (m valueMaker) scalar(typ tftypes.Type) *structpb.Value {
	switch {
	case typ.Is(tftypes.Bool):
		return structpb.NewBoolValue(rapid.Bool().Draw(m.T, "bool"))
	case typ.Is(tftypes.Number):
		return structpb.NewNumberValue(rapid.SampledFrom([]float64{0, -1, 0.1, 1e100, math.MaxFloat64, 5e-324, 1<<53 - 1}).Draw(m.T, "number"))
	}
	return structpb.NewStringValue(rapid.SampledFrom([]string{"", "a", "null", "{}", "<é>"}).Draw(m.T, "string"))
}

// json returns a value of any kind or of one of the given kinds. Its objects have names of properties.
func (m valueMaker) json(depth int, kinds ...string) *structpb.Value {
	switch {
	case len(kinds) > 0:
	case depth <= 0:
		kinds = []string{"bool", "number", "string"}
	default:
		kinds = []string{"bool", "number", "string", "list", "object"}
	}
	part := func() *structpb.Value {
		if m.chance("null", 4) {
			return structpb.NewNullValue()
		}
		return m.value(anyShape, depth-1)
	}
	switch rapid.SampledFrom(kinds).Draw(m.T, "any") {
	case "bool":
		return m.scalar(tftypes.Bool)
	case "number":
		return m.scalar(tftypes.Number)
	case "list":
		return structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{part(), part()}})
	case "object":
		return structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{"fieldA": part(), "fieldB": part()}})
	}
	return m.scalar(tftypes.String)
}

// mutated returns a copy of v, a value of shape s, with some parts changed.
func (m valueMaker) mutated(s *shape, v *structpb.Value) *structpb.Value {
	switch v = bridge.Reveal(v); {
	case s.kind == jsonText:
		return valueMaker{m.T, false}.mutated(s.elem, v)
	case bridge.IsNull(v) || v.GetStringValue() == wire.Unknown:
		return v
	case isList(v):
		elem, _ := s.part("")
		values := []*structpb.Value{}
		for _, v := range v.GetListValue().GetValues() {
			if !m.chance("drop", 5) {
				values = append(values, m.mutated(elem, v))
			}
		}
		if m.chance("append", 3) {
			values = append(values, m.value(elem, 2))
		}
		return structpb.NewListValue(&structpb.ListValue{Values: values})
	case isObject(v) && s.signature == "":
		fields := map[string]*structpb.Value{}
		for key, v := range v.GetStructValue().GetFields() {
			part, _ := s.part(s.name(key))
			if !m.chance("drop", 5) {
				fields[key] = m.mutated(part, v)
			}
		}
		for _, a := range s.attributes {
			if a.wire != "" && m.chance("add", 5) {
				fields[a.wire] = m.value(a.shape, 2)
			}
		}
		if (s.kind == mapping || s.kind == anything) && m.chance("add", 3) {
			part, _ := s.part("new")
			fields["new"] = m.value(part, 2)
		}
		return structpb.NewStructValue(&structpb.Struct{Fields: fields})
	case m.chance("change", 3) && s.signature == "":
		return m.value(s, 1)
	}
	return v
}

// configMaker makes values as configurations have them.
type configMaker struct{ *rapid.T }

// object returns a value of a resource.
func (m configMaker) object(s *shape) tftypes.Value {
	wire := valueMaker{m.T, true}
	values := s.encodeFields(wire.bag(s).Struct().GetFields(), typed)
	for _, a := range s.attributes {
		values[a.name] = m.roughened(a.shape, values[a.name])
	}
	return s.withID(nil, values)
}

// roughened adds what only configurations have: null elements, lists and maps within dynamic values, and JSON with spaces.
func (m configMaker) roughened(s *shape, v tftypes.Value) tftypes.Value {
	isDynamic := s.typ.Is(tftypes.DynamicPseudoType)
	chance := valueMaker{T: m.T}.chance
	switch c := native(v).(type) {
	case string:
		if s.kind == jsonText && chance("spaces", 2) {
			return tftypes.NewValue(tftypes.String, " "+c+" ")
		}
	case []tftypes.Value:
		if isDynamic && len(c) == 0 && chance("tolist", 2) {
			return tftypes.NewValue(tftypes.List{ElementType: tftypes.String}, c)
		}
		elem, _ := s.part("")
		values := make([]tftypes.Value, len(c))
		for i, v := range c {
			if values[i] = v; !isDynamic {
				values[i] = m.roughened(elem, v)
			}
		}
		if chance("null", 4) && (s.kind == list || s.kind == anything) {
			values = append(values, tftypes.NewValue(elem.typ, nil))
		}
		return rebuild(s.typ, typed, values)
	case map[string]tftypes.Value:
		if isDynamic && chance("null", 4) {
			values := map[string]tftypes.Value{"z": tftypes.NewValue(tftypes.DynamicPseudoType, nil)}
			for name, v := range c {
				values[name] = v
			}
			return build(tftypes.DynamicPseudoType, values)
		}
	}
	return v
}
