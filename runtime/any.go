package lumi

import (
	"maps"
	"slices"

	"github.com/lumi-idl/lumi/internal/property"
	"github.com/lumi-idl/lumi/runtime/internal/signed"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// Any is the codec of values of any type: nil, bool, float64, string, []any, map[string]any, [Asset], and [Archive].
var Any = Codec[*any]{codec: anyCodec{}}

type anyCodec struct{}

func (anyCodec) decode(p *Props, v *property.Value, into any) bool {
	value, ok := p.decodeAny(v)
	return set(into, value, ok)
}

func (p *Props) decodeAny(v *property.Value) (any, bool) {
	switch v.Kind() {
	case property.Bool:
		return v.Bool(), true
	case property.Number:
		return p.asNumber(v)
	case property.String:
		return p.text(v)
	case property.List:
		list := make([]any, len(v.Elements()))
		for i := range list {
			if p.push(step{index: i}) {
				list[i] = p.decodePart(v.Element(i))
				p.pop()
			}
		}
		return list, true
	case property.Object:
		return p.decodeAnyObject(v)
	}
	return nil, false
}

func (p *Props) decodeAnyObject(v *property.Value) (any, bool) {
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
	fields := v.Fields()
	m := make(map[string]any, len(fields))
	for i := range fields {
		key := fields[i].Name
		if !p.push(step{name: key, index: keyStep}) {
			break
		}
		if p.isKey(key) {
			m[key] = p.decodePart(&fields[i].Value)
		}
		p.pop()
	}
	return m, true
}

// decodePart decodes an element of a list or object in an any. Unknown and null elements are nil.
func (p *Props) decodePart(v *property.Value) any {
	v, is := p.open(v)
	if is != present {
		return nil
	}
	value, _ := p.decodeAny(v)
	return value
}

func (anyCodec) kind() Kind { return KindAny }

func (anyCodec) encode(p *Props, from any) property.Value {
	switch v := (*from.(*any)).(type) {
	case nil:
		return property.Value{}
	case bool:
		return property.BoolOf(v)
	case float64:
		return p.number(v)
	case string:
		return p.string(v)
	case Asset:
		return v.wire(p)
	case Archive:
		return v.wire(p)
	case []any:
		elements := make([]property.Field, len(v))
		for i := range v {
			if p.push(step{index: i}) {
				elements[i].Value = p.encodePart(&v[i])
				p.pop()
			}
		}
		return property.ListOf(elements)
	case map[string]any:
		fields := make([]property.Field, 0, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if !p.push(step{name: key, index: keyStep}) {
				break
			}
			if elem := v[key]; p.isKey(key) {
				fields = append(fields, property.Field{Name: key, Value: p.encodePart(&elem)})
			}
			p.pop()
		}
		return property.ObjectOf(fields...)
	default:
		p.fault("must be nil, bool, float64, string, []any, map[string]any, Asset, or Archive; found %T", v)
		return property.Value{}
	}
}

func (p *Props) encodePart(from *any) property.Value {
	if v := p.encode(from, anyCodec{}, 0); v.Kind() != property.Absent {
		return v
	}
	return property.NullOf()
}
