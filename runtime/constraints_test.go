package lumi

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/internal/constraint"
	"github.com/lumi-idl/lumi/internal/property"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/test/kit/must"
)

var update = flag.Bool("update", false, "write the faults that are found into the table of constraints")

// casesFile is the test table shared with the TypeScript runtime.
const casesFile = "../internal/constraint/testdata/cases.json"

// caseGroup is a group of cases for one type, whose values may be secret. A case consists of a value and its expected
// faults. In a value, {"$secret": v} is a secret, {"$resource": name} a resource, and {"$unknown": true} an unknown value.
type caseGroup struct {
	Type   json.RawMessage     `json:"type"`
	Secret bool                `json:"secret,omitempty"`
	Cases  [][]json.RawMessage `json:"cases"`
}

// caseType is a type in the table.
type caseType struct {
	Kind        string
	Element     *caseType
	Key         *caseType
	Properties  map[string]*caseType
	Constraints []json.RawMessage
	// Values are the values of an enum.
	Values []string
	// Default is the default of a property. A property with a default is optional.
	Default any
}

func TestConstraints(t *testing.T) {
	data := must.Get(os.ReadFile(casesFile))(t)
	var groups []caseGroup
	must.Do(t, json.Unmarshal(data, &groups))
	for i, g := range groups {
		var typ caseType
		if err := json.Unmarshal(g.Type, &typ); err != nil {
			t.Fatalf("cannot parse type %s: %v", g.Type, err)
		}
		o := caseObject{map[string]codec{"p": typ.codec(t)}, map[string]*any{}}
		for j, c := range g.Cases {
			var value structpb.Value
			if err := protojson.Unmarshal(c[0], &value); err != nil {
				t.Fatalf("cannot parse value %s: %v", c[0], err)
			}
			bag := &structpb.Struct{Fields: map[string]*structpb.Value{"p": caseValue(&value)}}
			if g.Secret {
				bag.Fields["p"] = NewSecret(bag.Fields["p"])
			}
			// A stored value of the wrong type is an error: a fraction, as well as a string.
			wrongType := bytes.Contains(g.Type, []byte("integer"))
			if faults := caseFaults(t, lenient, bag, o); len(faults) > 0 && !wrongType {
				t.Errorf("%s of %s: stored values were checked: %q", c[0], g.Type, faults)
			}
			found := []json.RawMessage{c[0]}
			for _, f := range caseFaults(t, strict, bag, o) {
				found = append(found, marshalCase(t, f))
			}
			if !bytes.Equal(bytes.Join(rawBytes(found), nil), bytes.Join(rawBytes(c), nil)) && !*update {
				t.Errorf("faults of %s as %s:\ngot  %s\nwant %s", c[0], g.Type, found[1:], c[1:])
			}
			groups[i].Cases[j] = found
		}
	}
	if *update {
		writeCases(t, groups)
	}
}

func caseFaults(t *testing.T, m mode, bag *structpb.Struct, o caseObject) []string {
	p := newProps(t.Context(), m, nil)
	p.unknown = true
	p.decodeObject(BagOf(bag).Object(), o)
	var faults []string
	for _, f := range p.reported() {
		faults = append(faults, f.Error())
	}
	return faults
}

// caseObject is an object with properties of any type. Properties with a default are optional.
type caseObject struct {
	codecs map[string]codec
	values map[string]*any
}

func (o caseObject) Lumi(p *Props) {
	for _, name := range slices.Sorted(maps.Keys(o.codecs)) {
		if o.values[name] == nil {
			o.values[name] = new(any)
		}
		f := required
		if a, ok := o.codecs[name].(*annotated); ok && a.fallback != nil {
			f = 0
		}
		p.property(name, o.values[name], o.codecs[name], f)
	}
}

func (t *caseType) codec(tb testing.TB) codec {
	var c codec
	switch t.Kind {
	case "number":
		c = boxed[float64]{Number.codec}
	case "integer":
		c = boxed[int]{Int.codec}
	case "string":
		c = boxed[string]{String.codec}
	case "boolean":
		c = boxed[bool]{Bool.codec}
	case "enum":
		c = caseEnum{t.Values}
	case "resource":
		c = boxed[urn.URN]{(&capabilityCodec{[]tokens.Type{"test:index:Wanted"}})}
	case "asset":
		c = boxed[Asset]{AssetValue.codec}
	case "any":
		c = anyCodec{}
	case "list":
		c = boxed[[]any]{List(Codec[*any]{t.Element.codec(tb)}).codec}
	case "map":
		elem := Codec[*any]{t.Element.codec(tb)}
		if c = (boxed[map[string]any]{Map(elem).codec}); t.Key != nil && t.Key.Kind == "enum" {
			keys := &caseEnumValue{values: t.Key.Values}
			c = boxed[map[string]any]{&mapCodec[string, any]{elem: elem.codec, key: keys}}
		} else if t.Key != nil {
			c = boxed[map[string]any]{KeyMap(Codec[*string]{t.Key.codec(tb).(*constrained)}, elem).codec}
		}
	case "union":
		variants := caseUnion{}
		for name, typ := range t.Properties {
			variants[name] = typ.codec(tb)
		}
		c = caseVariants{variants}
	case "object":
		properties := map[string]codec{}
		for name, typ := range t.Properties {
			properties[name] = typ.codec(tb)
		}
		c = caseStruct{properties}
	default:
		tb.Fatalf("unknown kind %q in the test table", t.Kind)
	}
	for _, raw := range t.Constraints {
		dec := json.NewDecoder(bytes.NewReader(raw))
		_, _ = dec.Token()
		for dec.More() {
			name, _ := dec.Token()
			arg := must.Get(dec.Token())(tb)
			c = constrain(c, constraint.New(name.(string), arg))
		}
	}
	if t.Default != nil {
		return Default(t.Default)(c)
	}
	return c
}

// caseEnum is the codec of an enum.
type caseEnum struct{ values []string }

func (c caseEnum) decode(p *Props, v *property.Value, into any) bool {
	e := &caseEnumValue{values: c.values}
	ok := enumCodec{}.decode(p, v, e)
	return set[any](into, e.value, ok)
}

func (caseEnum) kind() Kind { return KindString }

func (caseEnum) encode(p *Props, from any) property.Value { return p.string((*from.(*any)).(string)) }

type caseEnumValue struct {
	value  string
	values []string
}

func (e *caseEnumValue) Lumi() *string    { return &e.value }
func (e *caseEnumValue) Valid() bool      { return slices.Contains(e.values, e.value) }
func (e *caseEnumValue) Values() []string { return e.values }

// boxed adapts a codec of T to a codec of any.
type boxed[T any] struct{ codec }

func (c boxed[T]) encode(p *Props, from any) property.Value {
	value, _ := (*from.(*any)).(T)
	return c.codec.encode(p, &value)
}

func (c boxed[T]) decode(p *Props, v *property.Value, into any) bool {
	var value T
	ok := c.codec.decode(p, v, &value)
	return set[any](into, value, ok)
}

// caseUnion has optional properties of any type, exactly one of which is set.
type caseUnion map[string]codec

func (u caseUnion) Lumi(p *Props) {
	names := slices.Sorted(maps.Keys(u))
	for _, name := range names {
		p.property(name, new(any), u[name], 0)
	}
	p.OneOf(names...)
}

type caseVariants struct{ variants caseUnion }

func (c caseVariants) decode(p *Props, v *property.Value, _ any) bool {
	return unionCodec{}.decode(p, v, c.variants)
}

func (caseVariants) kind() Kind { return KindObject }

func (caseVariants) encode(*Props, any) property.Value { return property.Value{} }

type caseStruct struct{ properties map[string]codec }

func (c caseStruct) decode(p *Props, v *property.Value, into any) bool {
	o := caseObject{c.properties, map[string]*any{}}
	return set[any](into, o, structCodec{}.decode(p, v, o))
}

func (caseStruct) kind() Kind { return KindObject }

func (caseStruct) encode(p *Props, from any) property.Value {
	return structCodec{}.encode(p, (*from.(*any)).(Object))
}

// caseValue converts a value in the table to wire form.
func caseValue(v *structpb.Value) *structpb.Value {
	switch k := v.GetKind().(type) {
	case *structpb.Value_ListValue:
		for i, elem := range k.ListValue.Values {
			k.ListValue.Values[i] = caseValue(elem)
		}
	case *structpb.Value_StructValue:
		fields := k.StructValue.Fields
		if inner, ok := fields["$secret"]; ok {
			return NewSecret(caseValue(inner))
		}
		if name, ok := fields["$resource"]; ok {
			return structpb.NewStringValue("urn:lumi:test::shop:index::test:index:Other::" + name.GetStringValue())
		}
		if _, ok := fields["$unknown"]; ok {
			return NewUnknown()
		}
		for key, elem := range fields {
			fields[key] = caseValue(elem)
		}
	}
	return v
}

func marshalCase(t *testing.T, s string) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	must.Do(t, enc.Encode(s))
	return bytes.TrimSpace(b.Bytes())
}

// writeCases writes the table, one case per line.
func writeCases(t *testing.T, groups []caseGroup) {
	var b bytes.Buffer
	for i, g := range groups {
		fmt.Fprintf(&b, "%s\n  {\n    \"type\": %s,\n", [2]string{"[", ","}[min(i, 1)], g.Type)
		if g.Secret {
			b.WriteString("    \"secret\": true,\n")
		}
		b.WriteString("    \"cases\": [")
		for j, c := range g.Cases {
			fmt.Fprintf(&b, "%s\n      [%s]", [2]string{"", ","}[min(j, 1)], bytes.Join(rawBytes(c), []byte(", ")))
		}
		b.WriteString("\n    ]\n  }")
	}
	b.WriteString("\n]\n")
	must.Do(t, os.WriteFile(casesFile, b.Bytes(), 0o644))
}

func rawBytes(list []json.RawMessage) [][]byte {
	var all [][]byte
	for _, raw := range list {
		all = append(all, raw)
	}
	return all
}
