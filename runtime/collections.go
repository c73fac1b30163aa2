package lumi

import (
	"maps"
	"slices"

	"github.com/lumi-idl/lumi/internal/constraint"
	"github.com/lumi-idl/lumi/internal/property"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// List returns the codec of a list with elements of codec elem.
func List[T any](elem Codec[*T]) Codec[*[]T] {
	return Codec[*[]T]{codec: &listCodec{elem: elem.codec, slice: sliceOf[T]{}}}
}

type listCodec struct {
	elem  codec
	slice slice
}

// slice is the part of listCodec that depends on the element type.
type slice interface {
	// walk decodes values into the slice at the pointer field, or encodes the slice. It returns the values decoded or
	// encoded, which are nil for a nil slice.
	walk(p *Props, field any, elem codec, values []property.Field) []property.Field
}

type sliceOf[T any] struct{}

func (sliceOf[T]) walk(p *Props, field any, elem codec, values []property.Field) []property.Field {
	list := field.(*[]T)
	switch {
	case p.mode != encoding:
		*list = make([]T, len(values))
	case *list != nil:
		values = make([]property.Field, len(*list))
	}
	for i := range *list {
		p.element(i, &(*list)[i], elem, &values[i].Value)
	}
	return values
}

func (c *listCodec) decode(p *Props, v *property.Value, into any) bool {
	if v.Kind() != property.List {
		p.mismatch("a list", v)
		return false
	}
	c.slice.walk(p, into, c.elem, v.Elements())
	return true
}

func (*listCodec) kind() Kind { return KindList }

func (c *listCodec) element() codec { return c.elem }

func (c *listCodec) encode(p *Props, from any) property.Value {
	values := c.slice.walk(p, from, c.elem, nil)
	if values == nil {
		return property.Value{}
	}
	return property.ListOf(values)
}

// Map returns the codec of a map with arbitrary string keys.
func Map[V any](elem Codec[*V]) Codec[*map[string]V] {
	return Codec[*map[string]V]{codec: &mapCodec[string, V]{elem: elem.codec}}
}

// KeyMap returns the codec of a map whose keys must satisfy the constraints of key.
func KeyMap[V any](key Codec[*string], elem Codec[*V]) Codec[*map[string]V] {
	c := &mapCodec[string, V]{elem: elem.codec}
	if key, ok := key.codec.(*constrained); ok {
		c.rules = key.rules
	}
	return Codec[*map[string]V]{codec: c}
}

// EnumMap returns the codec of a map whose keys are values of an enum.
func EnumMap[E ~string, V any, P enumPointer[E]](_ Codec[P], elem Codec[*V]) Codec[*map[E]V] {
	return Codec[*map[E]V]{codec: &mapCodec[E, V]{elem: elem.codec, key: P(new(E))}}
}

// enumPointer constrains a type to be the pointer to enum E.
type enumPointer[E any] interface {
	*E
	EnumValue
}

type mapCodec[K ~string, V any] struct {
	elem codec
	// key is a pointer to a scratch key, or nil if keys are not enums.
	key EnumValue
	// rules are the constraints on keys.
	rules []constraint.Rule
}

func (c *mapCodec[K, V]) decode(p *Props, v *property.Value, into any) bool {
	if !p.isObject(v) {
		return false
	}
	fields := v.Fields()
	m := make(map[K]V, len(fields))
	elem := new(V)
	for i := range fields {
		c.decodeKey(p, fields[i].Name, &fields[i].Value, elem, m)
	}
	*into.(*map[K]V) = m
	return true
}

// decodeKey decodes the element with the given key and adds it to m. elem is reused scratch space for it.
func (c *mapCodec[K, V]) decodeKey(p *Props, key string, v *property.Value, elem *V, m map[K]V) {
	if v.IsNull() {
		return
	}
	var zero V
	*elem = zero
	if p.decodeKey(key, v, c.elem, elem, c.key, c.rules) {
		m[K(key)] = *elem
	}
}

func (*mapCodec[K, V]) kind() Kind { return KindMap }

func (c *mapCodec[K, V]) element() codec { return c.elem }

func (c *mapCodec[K, V]) encode(p *Props, from any) property.Value {
	m := *from.(*map[K]V)
	if m == nil {
		return property.Value{}
	}
	fields, elem := make([]property.Field, 0, len(m)), new(V)
	for _, key := range slices.Sorted(maps.Keys(m)) {
		*elem = m[key]
		fields = p.encodeKey(string(key), elem, c.elem, fields)
	}
	return property.ObjectOf(fields...)
}

// isKey reports whether key survives a round trip. If not, it reports a fault.
func (p *Props) isKey(key string) bool {
	problem := textProblem(key)
	if key == wire.Signature {
		problem = "is a reserved key"
	}
	if problem != "" {
		p.wrong("%s", problem)
	}
	return problem == ""
}

// element decodes or encodes a list element. It reports a fault if the element is absent.
func (p *Props) element(i int, field any, c codec, value *property.Value) {
	if !p.push(step{index: i}) {
		return
	}
	if p.mode == encoding {
		*value = p.encodeElement(field, c)
	} else if v, is := p.open(value); is == present {
		c.decode(p, v, field)
	} else if is == absent {
		p.wrong("an element of a list cannot be null")
	}
	p.pop()
}

func (p *Props) encodeElement(from any, c codec) property.Value {
	faults := len(p.faults)
	if v := p.encode(from, c, 0); v.Kind() != property.Absent {
		return v
	}
	if len(p.faults) == faults && !p.came().missing {
		p.fault("an element of a list cannot be absent")
	}
	return property.NullOf()
}

// decodeKey decodes a map element and reports whether to add it to the map. An element with an unknown value is added.
func (p *Props) decodeKey(key string, v *property.Value, c codec, into any, keys EnumValue, rules []constraint.Rule) bool {
	if !p.push(step{name: key, index: keyStep}) {
		return false
	}
	has := p.isKey(key) && (keys == nil || p.setEnum(keys, key))
	for i := 0; p.mode == strict && i < len(rules); i++ {
		p.breaks(rules[i].String(key, p.isHidden()))
	}
	if has || p.mode == strict {
		v, is := p.open(v)
		has = is == present && c.decode(p, v, into) || p.came().unknown
	}
	p.pop()
	return has
}

// encodeKey appends a map element to fields unless it is absent.
func (p *Props) encodeKey(key string, from any, c codec, fields []property.Field) []property.Field {
	if !p.push(step{name: key, index: keyStep}) {
		return fields
	}
	if v := p.encode(from, c, 0); v.Kind() != property.Absent && p.isKey(key) {
		fields = append(fields, property.Field{Name: key, Value: v})
	}
	p.pop()
	return fields
}
