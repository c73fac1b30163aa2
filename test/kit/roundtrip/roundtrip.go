// Package roundtrip is a property-based test of generated stubs: every valid value must survive a round trip through
// decoding and encoding.
package roundtrip

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"
	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/idl/compile"
	"github.com/lumi-idl/lumi/idl/equality"
	"github.com/lumi-idl/lumi/idl/schema"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/wire"
	"github.com/lumi-idl/lumi/test/kit/bags"
)

// Test tests every resource in a module of the IDL with random property bags. idl is the folder of the IDL. objects maps
// resource types to functions that return empty stub structs, and must contain all of the module's resources.
func Test(t *testing.T, idl, module string, objects map[tokens.Type]func() lumi.Object) {
	t.Helper()
	pkg, diags, err := compile.Load(context.Background(), compile.Options{Dir: idl})
	if err != nil || len(diags) > 0 {
		t.Fatal(err, diags)
	}
	for _, r := range resourcesOf(pkg, module) {
		empty := objects[tokens.Type(r.Token)]
		if empty == nil {
			t.Errorf("objects has no entry for %s", r.Token)
			continue
		}
		t.Run(r.Name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { roundTrip(t, r, empty) })
			rapid.Check(t, func(t *rapid.T) { anything(t, empty) })
		})
	}
}

func resourcesOf(pkg *schema.Package, module string) []*schema.Resource {
	var found []*schema.Resource
	for d := range pkg.Decls() {
		if r, ok := d.(*schema.Resource); ok && r.File.Module.Path == module {
			found = append(found, r)
		}
	}
	return found
}

// roundTrip checks that decoding and encoding a valid bag returns the bag, and that decoding it again returns the same
// value.
func roundTrip(t *rapid.T, r *schema.Resource, empty func() lumi.Object) {
	bag := lumi.BagOf(drawBag(t, r, 3))
	value := empty()
	if err := lumi.Decode(bag, value); err != nil {
		t.Fatalf("Decode of a valid bag returned %v\n%v", err, bag)
	}
	made, err := lumi.Encode(value)
	if err != nil {
		t.Fatal(err)
	}
	// The bag has no outputs, but outputs that are not pointers are encoded as zero values.
	for _, p := range r.Properties {
		if p.Out {
			bags.Set(&made, p.Name, nil)
		}
	}
	if diff := cmp.Diff(bag.Struct(), made.Struct(), protocmp.Transform()); diff != "" {
		t.Fatalf("Encode(Decode(bag)) (-bag +got):\n%s", diff)
	}
	again := empty()
	if err := lumi.Decode(made, again); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(value, again) {
		t.Fatalf("second Decode = %+v, want %+v", again, value)
	}
}

// anything checks that decoding a random bag either succeeds or returns faults that each start with the name of a property.
func anything(t *rapid.T, empty func() lumi.Object) {
	names := []string{"unheardOf"}
	for _, p := range lumi.Describe(empty()) {
		names = append(names, p.Name)
	}
	bag := &structpb.Struct{Fields: rapid.MapOf(rapid.SampledFrom(names), drawJSON(3)).Draw(t, "bag")}
	value := empty()
	err := lumi.Decode(lumi.BagOf(bag), value)
	if err == nil {
		if _, err := lumi.Encode(value); err != nil {
			t.Fatalf("Encode of a decoded value returned %v", err)
		}
		return
	}
	invalid := new(lumi.InvalidError)
	if !errors.As(err, &invalid) || len(invalid.Faults) == 0 {
		t.Fatalf("Decode error = %v, want an InvalidError with faults", err)
	}
	for _, f := range invalid.Faults {
		if f.Path == "" {
			continue // violates a relation between absent properties
		}
		if head, _, _ := strings.Cut(strings.ReplaceAll(string(f.Path), "[", "."), "."); !slices.Contains(names, head) {
			t.Fatalf("path of fault %q starts with none of the properties %q", f, names)
		}
	}
}

// drawBag draws a bag with valid values for the inputs in properties.
func drawBag(t *rapid.T, d schema.Decl, depth int) *structpb.Struct {
	const attempts = 100
	for range attempts {
		if bag := drawProperties(t, schema.Properties(d), depth); !breaksRule(d, bag) {
			return bag
		}
	}
	t.Fatalf("%d draws broke the rules of %s", attempts, d.Head().Name)
	return nil
}

// ruled is an object with rules and without properties.
type ruled struct{ rules *lumi.RuleSet }

func (o ruled) Lumi(p *lumi.Props) { p.Rules(o.rules) }

// breaksRule reports whether properties break a rule of d.
func breaksRule(d schema.Decl, bag *structpb.Struct) bool {
	var texts []string
	for _, r := range schema.Rules(d) {
		texts = append(texts, r.Message, r.JSON())
	}
	var invalid *lumi.InvalidError
	return texts != nil && errors.As(lumi.Decode(lumi.BagOf(bag), ruled{lumi.Rules(texts...)}), &invalid) && invalid.Faults[0].Path == ""
}

// drawProperties draws inputs that are valid except for rules.
func drawProperties(t *rapid.T, properties []*schema.Property, depth int) *structpb.Struct {
	bag := &structpb.Struct{Fields: map[string]*structpb.Value{}}
	draw := func(p *schema.Property) {
		v := drawValue(t, p.Type, depth-1, p.Constraints)
		if p.Secret {
			v = lumi.NewSecret(v)
		}
		bag.Fields[p.Name] = v
	}
	for _, p := range properties {
		// Decode fills in default values, so a property with a default value must be present.
		absent := func() bool { return depth == 0 || rapid.Bool().Draw(t, p.Name+" is absent") }
		if !p.Out && (!p.Optional || p.Default != nil || !absent()) {
			draw(p)
		}
	}
	for _, r := range schema.Relations(properties) {
		first, others := r.Properties[0], r.Properties[1:]
		missing := func(p *schema.Property) bool { return bag.Fields[p.Name] == nil }
		remove := func(p *schema.Property) { delete(bag.Fields, p.Name) }
		switch {
		case r.Rule == "exactlyOneOf":
			each(r.Properties, remove)
			draw(rapid.SampledFrom(r.Properties).Draw(t, "the one"))
		case r.Rule == "conflictsWith" && !missing(first):
			each(others, remove)
		case r.Rule == "requiredWith" && slices.ContainsFunc(others, missing):
			remove(first)
		}
	}
	return bag
}

func each(properties []*schema.Property, f func(*schema.Property)) {
	for _, p := range properties {
		f(p)
	}
}

// drawValue draws a value of the given type that satisfies the constraints of the property and of the type.
func drawValue(t *rapid.T, typ schema.Type, depth int, own ...*schema.Constraints) *structpb.Value {
	l := limits(append(own, schema.ConstraintsOf(typ)))
	switch typ := schema.Underlying(typ).(type) {
	case schema.Primitive:
		return drawPrimitive(t, typ, l)
	case *schema.List:
		list, same := &structpb.ListValue{}, equality.Of(typ.Elem, nil)
		for range l.length(t, depth, "minItems", "maxItems") {
			elem := drawValue(t, typ.Elem, depth-1)
			if len(l.all("unique")) == 0 || !slices.ContainsFunc(list.Values, func(v *structpb.Value) bool {
				return same.Identity(v.AsInterface()) == same.Identity(elem.AsInterface())
			}) {
				list.Values = append(list.Values, elem)
			}
		}
		return structpb.NewListValue(list)
	case *schema.Map:
		object := &structpb.Struct{Fields: map[string]*structpb.Value{}}
		for range l.length(t, depth, "minProperties", "maxProperties") {
			key := drawValue(t, typ.Key, 0, l.keys()).GetStringValue()
			object.Fields[key] = drawValue(t, typ.Elem, depth-1)
		}
		return structpb.NewStructValue(object)
	case *schema.Ref:
		switch d := typ.Decl.(type) {
		case *schema.Resource:
			return urnOf(d.Token)
		case *schema.Enum:
			return structpb.NewStringValue(rapid.SampledFrom(d.Members).Draw(t, "member").Value)
		case *schema.Union:
			v := rapid.SampledFrom(d.Variants).Draw(t, "variant")
			one := drawValue(t, v.Type, depth)
			if d.Tokens() != nil {
				return one
			}
			if v.Secret {
				one = lumi.NewSecret(one)
			}
			return structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{v.Name: one}})
		case *schema.Struct:
			return structpb.NewStructValue(drawBag(t, d, depth))
		}
	}
	t.Fatalf("unknown type: %#v", typ)
	return nil
}

func drawPrimitive(t *rapid.T, typ schema.Primitive, l limits) *structpb.Value {
	switch typ {
	case schema.Bool:
		return structpb.NewBoolValue(rapid.Bool().Draw(t, "bool"))
	case schema.Number:
		return structpb.NewNumberValue(l.numbers().Draw(t, "number"))
	case schema.Int:
		return structpb.NewNumberValue(l.integers().Draw(t, "int"))
	case schema.Any:
		return rapid.OneOf(
			rapid.Map(rapid.String(), structpb.NewStringValue),
			rapid.Map(rapid.Float64(), structpb.NewNumberValue),
			rapid.Map(rapid.Bool(), structpb.NewBoolValue),
		).Draw(t, "any")
	case schema.Asset:
		return special(wire.Asset, rapid.SampledFrom([]string{"text", "path", "uri"}).Draw(t, "kind"))
	case schema.Archive:
		return special(wire.Archive, rapid.SampledFrom([]string{"path", "uri"}).Draw(t, "kind"))
	case schema.AnyResource:
		return urnOf("other:index:Thing")
	}
	return structpb.NewStringValue(l.strings().Draw(t, "string"))
}

func special(signature, key string) *structpb.Value {
	return structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{
		wire.Signature: structpb.NewStringValue(signature),
		key:            structpb.NewStringValue("https://example.com/file.zip"),
	}})
}

func urnOf(token string) *structpb.Value {
	return structpb.NewStringValue("urn:lumi:test::shop:index::" + token + "::thing")
}

// drawJSON draws an arbitrary JSON value, including the special values of the wire format.
func drawJSON(depth int) *rapid.Generator[*structpb.Value] {
	leaves := []*rapid.Generator[*structpb.Value]{
		rapid.Just(structpb.NewNullValue()),
		rapid.Map(rapid.Bool(), structpb.NewBoolValue),
		rapid.Map(rapid.Float64(), structpb.NewNumberValue),
		rapid.Map(rapid.String(), structpb.NewStringValue),
		rapid.Just(lumi.NewUnknown()),
		rapid.Just(urnOf("aws:ec2:VPC")),
		rapid.Just(special(wire.Asset, "text")),
		rapid.Just(special(wire.Archive, "nonsense")),
	}
	if depth == 0 {
		return rapid.OneOf(leaves...)
	}
	inner := rapid.Deferred(func() *rapid.Generator[*structpb.Value] { return drawJSON(depth - 1) })
	return rapid.OneOf(append(leaves,
		rapid.Map(inner, lumi.NewSecret),
		rapid.Map(rapid.SliceOfN(inner, 0, 3), func(v []*structpb.Value) *structpb.Value {
			return structpb.NewListValue(&structpb.ListValue{Values: v})
		}),
		rapid.Map(rapid.MapOfN(rapid.String(), inner, 0, 3), func(v map[string]*structpb.Value) *structpb.Value {
			return structpb.NewStructValue(&structpb.Struct{Fields: v})
		}),
	)...)
}
