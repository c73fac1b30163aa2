package lumi

import "google.golang.org/protobuf/types/known/structpb"

// values allocates the values of one bag. To save allocations, each value and its content share a struct, and structs for
// primitive values are allocated in chunks.
type values struct {
	strings chunk[stringValue]
	numbers chunk[numberValue]
	bools   chunk[boolValue]
}

type (
	stringValue struct {
		value structpb.Value
		holds structpb.Value_StringValue
	}
	numberValue struct {
		value structpb.Value
		holds structpb.Value_NumberValue
	}
	boolValue struct {
		value structpb.Value
		holds structpb.Value_BoolValue
	}
	objectValue struct {
		value  structpb.Value
		holds  structpb.Value_StructValue
		object structpb.Struct
	}
	listValue struct {
		value structpb.Value
		holds structpb.Value_ListValue
		list  structpb.ListValue
	}
)

func (m *values) string(s string) *structpb.Value {
	v := m.strings.next()
	v.holds.StringValue = s
	v.value.Kind = &v.holds
	return &v.value
}

func (m *values) number(n float64) *structpb.Value {
	v := m.numbers.next()
	v.holds.NumberValue = n
	v.value.Kind = &v.holds
	return &v.value
}

func (m *values) bool(b bool) *structpb.Value {
	v := m.bools.next()
	v.holds.BoolValue = b
	v.value.Kind = &v.holds
	return &v.value
}

func (*values) object(fields map[string]*structpb.Value) *structpb.Value {
	v := &objectValue{object: structpb.Struct{Fields: fields}}
	v.holds.StructValue = &v.object
	v.value.Kind = &v.holds
	return &v.value
}

func (*values) list(elems []*structpb.Value) *structpb.Value {
	v := &listValue{list: structpb.ListValue{Values: elems}}
	v.holds.ListValue = &v.list
	v.value.Kind = &v.holds
	return &v.value
}

// chunk allocates elements in slices of 2, 4, and then 8. It uses no longer slices, since each element keeps its whole
// slice alive.
type chunk[T any] struct {
	free []T
	size int
}

func (c *chunk[T]) next() *T {
	const smallest, largest = 2, 8
	if len(c.free) == 0 {
		c.size = min(max(2*c.size, smallest), largest)
		c.free = make([]T, c.size)
	}
	elem := &c.free[0]
	c.free = c.free[1:]
	return elem
}
