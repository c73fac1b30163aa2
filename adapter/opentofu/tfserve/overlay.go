package tfserve

import (
	"slices"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/adapter/internal/bridge"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// overlayBag returns base with the id and the properties in now. base must be a known value that decodes to was. Where was and now
// are the same, even as parts of values, base is kept as it is: OpenTofu refuses plans that change the form of what a
// configuration sets, such as the type of a dynamic value, and null elements have no wire form.
func (s *shape) overlayBag(id any, base tftypes.Value, was, now lumi.Bag) tftypes.Value {
	return s.withID(id, s.overlayFields(parts(base), was.Struct().GetFields(), now.Struct().GetFields(), typed))
}

func (s *shape) overlay(base tftypes.Value, was, now *structpb.Value, at place) tftypes.Value {
	was, now = bridge.Reveal(was), bridge.Reveal(now)
	switch {
	case same(was, now):
		return base
	case base.IsNull() || !base.IsKnown():
		return s.encode(now, at)
	}
	typ := s.typ
	if at != typed || typ.Is(tftypes.DynamicPseudoType) {
		at, typ = dynamic, base.Type()
	}
	switch b := native(base).(type) {
	case []tftypes.Value:
		if isList(was) && isList(now) {
			return rebuild(typ, at, s.overlayList(b, was.GetListValue().GetValues(), now.GetListValue().GetValues(), at))
		}
	case map[string]tftypes.Value:
		if isObject(was) && isObject(now) {
			return rebuild(typ, at, s.overlayFields(b, was.GetStructValue().GetFields(), now.GetStructValue().GetFields(), at))
		}
	}
	return s.encode(now, at)
}

// rebuild is build, but for a dynamic value it keeps the type only if it fits.
func rebuild[T []tftypes.Value | map[string]tftypes.Value](typ tftypes.Type, at place, content T) tftypes.Value {
	if at != typed && tftypes.ValidateValue(typ, content) != nil {
		typ = tftypes.DynamicPseudoType
	}
	return build(typ, content)
}

func (s *shape) overlayList(base []tftypes.Value, was, now []*structpb.Value, at place) []tftypes.Value {
	elem, _ := s.part("")
	values := make([]tftypes.Value, len(now))
	for i, v := range now {
		if i < len(base) && i < len(was) {
			values[i] = elem.overlay(base[i], was[i], v, at)
		} else {
			values[i] = elem.encode(v, at)
		}
	}
	return values
}

func (s *shape) overlayFields(base map[string]tftypes.Value, was, now map[string]*structpb.Value, at place) map[string]tftypes.Value {
	values := make(map[string]tftypes.Value, max(len(base), len(now)))
	for name, v := range base {
		part, key := s.part(name)
		if removed := bridge.IsNull(now[key]) && !bridge.IsNull(was[key]); !removed || at == typed && s.kind == object {
			values[name] = part.overlay(v, was[key], now[key], at)
		}
	}
	for key, v := range now {
		name := s.name(key)
		if _, done := values[name]; done || key == wire.Signature {
			continue
		}
		part, _ := s.part(name)
		values[name] = part.encode(v, at)
	}
	return values
}

// same reports whether values are equal, ignoring secret wrappers. Null counts as absent.
func same(a, b *structpb.Value) bool {
	a, b = bridge.Reveal(a), bridge.Reveal(b)
	switch {
	case a == b:
		return true
	case bridge.IsNull(a) || bridge.IsNull(b):
		return bridge.IsNull(a) && bridge.IsNull(b)
	case isList(a) && isList(b):
		return slices.EqualFunc(a.GetListValue().GetValues(), b.GetListValue().GetValues(), same)
	case isObject(a) && isObject(b):
		return containsFields(a, b) && containsFields(b, a)
	}
	return proto.Equal(a, b)
}

// containsFields reports whether object a has all fields of b.
func containsFields(a, b *structpb.Value) bool {
	for key, v := range b.GetStructValue().GetFields() {
		if !same(a.GetStructValue().GetFields()[key], v) {
			return false
		}
	}
	return true
}

func isList(v *structpb.Value) bool   { return v.GetListValue() != nil }
func isObject(v *structpb.Value) bool { return v.GetStructValue() != nil }
