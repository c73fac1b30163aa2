package property

import "google.golang.org/protobuf/types/known/structpb"

// FromStruct converts a message. A nil message is an empty object.
func FromStruct(s *structpb.Struct) Value {
	fields := make([]Field, 0, len(s.GetFields()))
	for name, v := range s.GetFields() {
		fields = append(fields, Field{name, FromMessage(v)})
	}
	return ObjectOf(fields...)
}

// FromMessage converts a message. One without a value is null.
func FromMessage(v *structpb.Value) Value {
	switch k := v.GetKind().(type) {
	case *structpb.Value_BoolValue:
		return BoolOf(k.BoolValue)
	case *structpb.Value_NumberValue:
		return NumberOf(k.NumberValue)
	case *structpb.Value_StringValue:
		return StringOf(k.StringValue)
	case *structpb.Value_ListValue:
		elements := make([]Field, len(k.ListValue.GetValues()))
		for i, element := range k.ListValue.GetValues() {
			elements[i].Value = FromMessage(element)
		}
		return ListOf(elements)
	case *structpb.Value_StructValue:
		return FromStruct(k.StructValue)
	}
	return NullOf()
}

// Struct converts an object to a message.
func (v *Value) Struct() *structpb.Struct {
	s := &structpb.Struct{Fields: make(map[string]*structpb.Value, len(v.Fields()))}
	for _, f := range v.Fields() {
		s.Fields[f.Name] = f.Value.Message()
	}
	return s
}

// Message converts a value to a message, which is nil for an absent value.
func (v *Value) Message() *structpb.Value {
	switch v.Kind() {
	case Null:
		return structpb.NewNullValue()
	case Bool:
		return structpb.NewBoolValue(v.Bool())
	case Number:
		return structpb.NewNumberValue(v.Number())
	case String:
		return structpb.NewStringValue(v.Text())
	case List:
		list := &structpb.ListValue{Values: make([]*structpb.Value, len(v.parts()))}
		for i, element := range v.parts() {
			list.Values[i] = element.Value.Message()
		}
		return structpb.NewListValue(list)
	case Object:
		return structpb.NewStructValue(v.Struct())
	}
	return nil
}
