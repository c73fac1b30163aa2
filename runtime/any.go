package lumi

import (
	"maps"
	"slices"

	"github.com/lumi-idl/lumi/runtime/internal/signed"
	"github.com/lumi-idl/lumi/runtime/wire"
	"google.golang.org/protobuf/types/known/structpb"
)

// Any is the codec of values of any type: nil, bool, float64, string, []any, map[string]any, [Asset], and [Archive].
var Any = Codec[*any]{codec: anyCodec{}}

type anyCodec struct{}

func (anyCodec) decode(p *Props, v *structpb.Value, into any) bool {
	value, ok := p.decodeAny(v)
	return set(into, value, ok)
}

func (p *Props) decodeAny(v *structpb.Value) (any, bool) {
	switch k := v.GetKind().(type) {
	case *structpb.Value_BoolValue:
		return k.BoolValue, true
	case *structpb.Value_NumberValue:
		return p.asNumber(v)
	case *structpb.Value_StringValue:
		return p.text(v)
	case *structpb.Value_ListValue:
		values := k.ListValue.GetValues()
		list := make([]any, len(values))
		for i, v := range values {
			if p.push(step{index: i}) {
				list[i] = p.decodePart(v)
				p.pop()
			}
		}
		return list, true
	case *structpb.Value_StructValue:
		return p.decodeAnyObject(v)
	}
	return nil, false
}

func (p *Props) decodeAnyObject(v *structpb.Value) (any, bool) {
	switch signed.Signature(v) {
	case "":
	case wire.Asset:
		return p.asset(v)
	case wire.Archive:
		return p.archive(v)
	default:
		p.mismatch("a JSON value", v)
		return nil, false
	}
	fields := v.GetStructValue().GetFields()
	m := make(map[string]any, len(fields))
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		v := fields[key]
		if !p.push(step{name: key, index: keyStep}) {
			break
		}
		if p.isKey(key) {
			m[key] = p.decodePart(v)
		}
		p.pop()
	}
	return m, true
}

// decodePart decodes an element of a list or object in an any. Unknown and null elements are nil.
func (p *Props) decodePart(v *structpb.Value) any {
	v, is := p.open(v)
	if is != present {
		return nil
	}
	value, _ := p.decodeAny(v)
	return value
}

func (anyCodec) kind() Kind { return KindAny }

func (c anyCodec) encode(p *Props, from any) *structpb.Value {
	switch v := (*from.(*any)).(type) {
	case nil:
		return nil
	case bool:
		return p.make.bool(v)
	case float64:
		return p.number(v)
	case string:
		return p.string(v)
	case Asset:
		return v.wire(p)
	case Archive:
		return v.wire(p)
	case []any:
		values := make([]*structpb.Value, len(v))
		for i := range v {
			if p.push(step{index: i}) {
				values[i] = p.encodePart(&v[i])
				p.pop()
			}
		}
		return p.make.list(values)
	case map[string]any:
		fields := make(map[string]*structpb.Value, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if !p.push(step{name: key, index: keyStep}) {
				break
			}
			if elem := v[key]; p.isKey(key) {
				fields[key] = p.encodePart(&elem)
			}
			p.pop()
		}
		return p.make.object(fields)
	default:
		p.fault("must be nil, bool, float64, string, []any, map[string]any, Asset, or Archive; found %T", v)
		return nil
	}
}

func (p *Props) encodePart(from *any) *structpb.Value {
	if v := p.encode(from, anyCodec{}, 0); v != nil {
		return v
	}
	return structpb.NewNullValue()
}
