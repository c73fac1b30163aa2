package tfserve

import (
	"encoding/json"
	"math/big"
	"strconv"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/adapter/internal/bridge"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// decodeBag returns the properties in a value of the shape of a resource or configuration, without the id. Null is absent, and what
// does not fit the IDL is left for Lumi to report. The value must be known.
func (s *shape) decodeBag(v tftypes.Value) lumi.Bag {
	if v.IsNull() {
		return lumi.Bag{}
	}
	return lumi.BagOf(s.decode(v).GetStructValue())
}

// encodeBag returns the value of a resource with properties. id is a string, nil, or [tftypes.UnknownValue].
func (s *shape) encodeBag(id any, bag lumi.Bag) tftypes.Value {
	return s.withID(id, s.encodeFields(bag.Struct().GetFields(), typed))
}

// withID returns the value of a resource with the given attributes.
func (s *shape) withID(id any, attributes map[string]tftypes.Value) tftypes.Value {
	attributes[idName] = tftypes.NewValue(tftypes.String, id)
	return tftypes.NewValue(s.typ, attributes)
}

// place is where a value is encoded.
type place int

const (
	typed   place = iota // where the shape has a type
	dynamic              // inside a dynamic value
	inJSON               // inside a jsonText
)

// native returns what a value contains: a bool, string, *big.Float, []tftypes.Value, or map[string]tftypes.Value, or nil for null and
// unknown values.
func native(v tftypes.Value) any {
	if v.IsNull() || !v.IsKnown() {
		return nil
	}
	switch t := v.Type(); {
	case t.Is(tftypes.Bool):
		return as[bool](v)
	case t.Is(tftypes.String):
		return as[string](v)
	case t.Is(tftypes.Number):
		return as[*big.Float](v)
	case t.Is(tftypes.Map{}), t.Is(tftypes.Object{}):
		return as[map[string]tftypes.Value](v)
	}
	return as[[]tftypes.Value](v)
}

func as[T any](v tftypes.Value) any {
	var content T
	if v.As(&content) != nil {
		return nil // impossible for these types
	}
	return content
}

// decode returns a value in wire form, or nil for null. Secret properties are wrapped, so that Lumi masks them.
func (s *shape) decode(v tftypes.Value) *structpb.Value {
	decoded := s.decodeRevealed(v)
	if s.hidden && decoded != nil {
		decoded = lumi.NewSecret(decoded)
	}
	return decoded
}

// decodeRevealed decodes a value without wrapping it as a secret.
func (s *shape) decodeRevealed(v tftypes.Value) *structpb.Value {
	if !v.IsKnown() {
		return lumi.NewUnknown()
	}
	switch c := native(v).(type) {
	case bool:
		return structpb.NewBoolValue(c)
	case *big.Float:
		n, _ := c.Float64() // Lumi has no others.
		return structpb.NewNumberValue(n)
	case string:
		return s.decodeString(c)
	case []tftypes.Value:
		elem, _ := s.part("")
		values := make([]*structpb.Value, len(c))
		for i, v := range c {
			if values[i] = elem.decode(v); values[i] == nil {
				values[i] = structpb.NewNullValue()
			}
		}
		return structpb.NewListValue(&structpb.ListValue{Values: values})
	case map[string]tftypes.Value:
		return s.decodeFields(c)
	}
	return nil
}

func (s *shape) decodeString(text string) *structpb.Value {
	switch s.kind {
	case reference:
		text = string(urn.ByID(s.token, text))
	case jsonText:
		var v structpb.Value
		if json.Unmarshal([]byte(text), &v) == nil { // Otherwise, Lumi reports a string.
			return s.elem.decode(anyShape.encode(&v, inJSON))
		}
	}
	return structpb.NewStringValue(text)
}

func (s *shape) decodeFields(values map[string]tftypes.Value) *structpb.Value {
	if s.kind == jsonText { // inside the JSON of another one
		return s.elem.decodeFields(values)
	}
	fields := make(map[string]*structpb.Value, len(values))
	for name, v := range values {
		if part, wire := s.part(name); wire != "" {
			if v := part.decode(v); v != nil {
				fields[wire] = v
			}
		}
	}
	if s.kind == anyType {
		return s.decodeReference(fields)
	}
	if s.signature != "" {
		fields[wire.Signature] = structpb.NewStringValue(s.signature)
	}
	return structpb.NewStructValue(&structpb.Struct{Fields: fields})
}

// decodeReference returns the URN of the resource with a type and an id.
func (s *shape) decodeReference(parts map[string]*structpb.Value) *structpb.Value {
	typ, id := parts[typeName].GetStringValue(), parts[idName].GetStringValue()
	switch {
	case typ == wire.Unknown || id == wire.Unknown:
		return lumi.NewUnknown()
	case typ == "" || id == "":
		return structpb.NewStructValue(&structpb.Struct{Fields: parts})
	}
	token, ok := s.names.tokens[typ]
	if !ok {
		token = tokens.Type(typ)
	}
	return structpb.NewStringValue(string(urn.ByID(token, id)))
}

// part returns the shape of a part of a list, map, or object, and the name of the part in bags, or "" for the id of a resource. The
// parts that the IDL does not know can have any value.
func (s *shape) part(name string) (*shape, string) {
	switch s.kind {
	case list, mapping:
		return s.elem, name
	case object:
		if a := s.byName[name]; a != nil {
			return a.shape, a.wire
		}
	}
	return anyShape, name
}

// name returns the name in OpenTofu of a part with a name in bags.
func (s *shape) name(wire string) string {
	for _, a := range s.attributes {
		if a.wire == wire {
			return a.name
		}
	}
	return wire
}

// encode returns the value of v. What does not fit the IDL is null, unless it is within a dynamic value.
func (s *shape) encode(v *structpb.Value, at place) tftypes.Value {
	v = bridge.Reveal(v)
	typ := s.typ
	if at != typed {
		typ = tftypes.DynamicPseudoType
	} else if typ.Is(tftypes.DynamicPseudoType) {
		at = dynamic
	}
	switch {
	case v.GetStringValue() == wire.Unknown:
		return tftypes.NewValue(typ, tftypes.UnknownValue)
	case bridge.IsNull(v) || at == typed && !s.fits(v):
		return tftypes.NewValue(typ, nil)
	case s.kind == jsonText && at != inJSON:
		return s.encodeJSON(v)
	}
	switch k := v.GetKind().(type) {
	case *structpb.Value_BoolValue:
		return tftypes.NewValue(tftypes.Bool, k.BoolValue)
	case *structpb.Value_NumberValue:
		return tftypes.NewValue(tftypes.Number, number(k.NumberValue))
	case *structpb.Value_ListValue:
		elem, _ := s.part("")
		values := make([]tftypes.Value, len(k.ListValue.GetValues()))
		for i, v := range k.ListValue.GetValues() {
			values[i] = elem.encode(v, at)
		}
		return build(typ, values)
	case *structpb.Value_StructValue:
		return build(typ, s.encodeFields(k.StructValue.GetFields(), at))
	}
	return s.encodeString(v.GetStringValue())
}

// fits reports whether v has the kind of the shape.
func (s *shape) fits(v *structpb.Value) bool {
	switch v.GetKind().(type) {
	case *structpb.Value_BoolValue:
		return s.typ.Is(tftypes.Bool)
	case *structpb.Value_NumberValue:
		return s.typ.Is(tftypes.Number)
	case *structpb.Value_StringValue:
		return s.kind == anyType || s.kind == reference || s.kind == scalar && s.typ.Is(tftypes.String)
	case *structpb.Value_ListValue:
		return s.kind == list
	}
	return s.kind == object || s.kind == mapping || s.kind == jsonText
}

// number returns the number that OpenTofu reads for the shortest decimal of n.
func number(n float64) *big.Float {
	f, _, err := big.ParseFloat(strconv.FormatFloat(n, 'g', -1, 64), 10, 512, big.ToNearestEven)
	if err != nil {
		return new(big.Float) // impossible for the numbers of an IDL, which are finite
	}
	return f
}

func (s *shape) encodeString(text string) tftypes.Value {
	u := urn.URN(text)
	switch id, ok := u.ID(); {
	case s.kind == anyType:
		typ := s.names.name(string(u.Type()))
		return tftypes.NewValue(s.typ, map[string]tftypes.Value{
			typeName: tftypes.NewValue(tftypes.String, typ), idName: tftypes.NewValue(tftypes.String, id),
		})
	case s.kind == reference && ok:
		text = id
	}
	return tftypes.NewValue(tftypes.String, text)
}

func (s *shape) encodeJSON(v *structpb.Value) tftypes.Value {
	object := s.elem.encode(v, inJSON)
	if !object.IsFullyKnown() {
		return tftypes.NewValue(tftypes.String, tftypes.UnknownValue)
	}
	text, err := json.Marshal(anyShape.decode(object).AsInterface())
	if err != nil {
		return tftypes.NewValue(tftypes.String, nil) // impossible for decoded values
	}
	return tftypes.NewValue(tftypes.String, string(text))
}

// encodeFields returns the attributes of an object or the elements of a map. Objects in dynamic values have no null attributes.
func (s *shape) encodeFields(fields map[string]*structpb.Value, at place) map[string]tftypes.Value {
	if s.kind == jsonText {
		return s.elem.encodeFields(fields, at)
	}
	values := make(map[string]tftypes.Value, len(fields)+1)
	if s.kind != object {
		part, _ := s.part("")
		for name, v := range fields {
			values[name] = part.encode(v, at)
		}
		return values
	}
	for _, a := range s.attributes {
		if v := fields[a.wire]; at == typed || !bridge.IsNull(v) {
			values[a.name] = a.encode(v, at)
		}
	}
	return values
}

// build returns a value of type typ with elements or attributes, or for a dynamic type a tuple or an object.
func build[T []tftypes.Value | map[string]tftypes.Value](typ tftypes.Type, content T) tftypes.Value {
	if typ.Is(tftypes.DynamicPseudoType) {
		switch c := any(content).(type) {
		case []tftypes.Value:
			types := make([]tftypes.Type, len(c))
			for i, v := range c {
				types[i] = v.Type()
			}
			typ = tftypes.Tuple{ElementTypes: types}
		case map[string]tftypes.Value:
			types := make(map[string]tftypes.Type, len(c))
			for name, v := range c {
				types[name] = v.Type()
			}
			typ = tftypes.Object{AttributeTypes: types}
		}
	}
	return tftypes.NewValue(typ, content)
}
