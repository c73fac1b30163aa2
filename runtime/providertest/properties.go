package providertest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
)

// Properties maps names to the values of a program's properties. A value is a boolean, number, string, enum, or URN; a
// slice or map of values; a pointer to a value; a generated struct; a [lumi.Asset] or [lumi.Archive]; a [*Resource] for a
// resource reference; or the result of [Secret] or [Resource.Output]. [Unknown] is an unknown value, and nil is an absent
// one.
type Properties map[string]any

// Unknown is an unknown value. It is allowed in [Resource.Check] and [Resource.Inspect].
var Unknown any = unknown{}

type unknown struct{}

// Secret returns value wrapped as a secret. Values that the IDL declares secret need not be wrapped.
func Secret(value any) any { return secret{value} }

type secret struct{ value any }

// From converts a generated struct to [Properties], without the computed ones. It ends the test if a value cannot be
// encoded.
func From(t TB, properties lumi.Object) Properties {
	t.Helper()
	encoded, err := lumi.Encode(properties)
	if err != nil {
		fatalf(t, "cannot encode the properties:\n%s", indent(within("", err).Error()))
	}
	bag := Properties{}
	for _, p := range lumi.Describe(properties) {
		if v, ok := encoded.Struct().GetFields()[p.Name]; ok && p.Flags&lumi.Out == 0 {
			bag[p.Name] = v
		}
	}
	return bag
}

// With returns a copy of b with the properties in others set. A nil value removes a property.
func (b Properties) With(others Properties) Properties {
	merged := Properties{}
	maps.Copy(merged, b)
	maps.Copy(merged, others)
	maps.DeleteFunc(merged, func(_ string, value any) bool { return value == nil })
	return merged
}

// encode returns the properties in wire form, or an error with all invalid values.
func (b Properties) encode() (*structpb.Struct, error) {
	made := &structpb.Struct{Fields: map[string]*structpb.Value{}}
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(b)) {
		v, err := encodeValue(lumi.Path("").Key(name), b[name])
		if err != nil {
			problems = append(problems, err)
		} else if v != nil {
			made.Fields[name] = v
		}
	}
	return made, errors.Join(problems...)
}

// encodeValue returns a value in wire form, or nil if it is absent. path is used in errors.
func encodeValue(path lumi.Path, value any) (*structpb.Value, error) {
	if v := reflect.ValueOf(value); v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, nil
	}
	switch v := value.(type) {
	case nil:
		return nil, nil
	case unknown:
		return lumi.NewUnknown(), nil
	case secret:
		inner, err := encodeValue(path, v.value)
		if err != nil || inner == nil {
			return nil, err
		}
		return lumi.NewSecret(inner), nil
	case *structpb.Value:
		return proto.CloneOf(v), nil
	case lumi.Bag:
		return structpb.NewStructValue(proto.CloneOf(v.Struct())), nil
	case *Resource:
		return structpb.NewStringValue(string(v.URN())), nil
	case lumi.Asset, lumi.Archive:
		bag, err := lumi.Encode(&single{v})
		if err != nil {
			return nil, within(path, err)
		}
		return bag.Struct().GetFields()[only], nil
	case lumi.Object:
		bag, err := lumi.Encode(v)
		if err != nil {
			return nil, within(path, err)
		}
		return structpb.NewStructValue(bag.Struct()), nil
	}
	return encodeReflected(path, reflect.ValueOf(value))
}

func encodeReflected(path lumi.Path, v reflect.Value) (*structpb.Value, error) {
	switch v.Kind() {
	case reflect.Bool:
		return structpb.NewBoolValue(v.Bool()), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return structpb.NewNumberValue(float64(v.Int())), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return structpb.NewNumberValue(float64(v.Uint())), nil
	case reflect.Float32, reflect.Float64:
		return structpb.NewNumberValue(v.Float()), nil
	case reflect.String:
		return structpb.NewStringValue(v.String()), nil
	case reflect.Pointer:
		return encodeValue(path, v.Elem().Interface())
	case reflect.Slice, reflect.Array:
		return encodeList(path, v)
	case reflect.Map:
		if v.Type().Key().Kind() == reflect.String {
			return encodeMap(path, v)
		}
	case reflect.Struct:
		// Pointers to generated structs are Objects.
		at := reflect.New(v.Type())
		at.Elem().Set(v)
		if o, ok := at.Interface().(lumi.Object); ok {
			return encodeValue(path, o)
		}
	}
	return nil, fmt.Errorf("%s: a %s cannot be in a bag of properties", path, v.Type())
}

func encodeList(path lumi.Path, v reflect.Value) (*structpb.Value, error) {
	if v.Kind() == reflect.Slice && v.IsNil() {
		return nil, nil
	}
	list := &structpb.ListValue{}
	for i := range v.Len() {
		elem, err := encodeValue(path.Index(i), v.Index(i).Interface())
		if err != nil {
			return nil, err
		}
		if elem == nil {
			elem = structpb.NewNullValue()
		}
		list.Values = append(list.Values, elem)
	}
	return structpb.NewListValue(list), nil
}

func encodeMap(path lumi.Path, v reflect.Value) (*structpb.Value, error) {
	if v.IsNil() {
		return nil, nil
	}
	fields := map[string]*structpb.Value{}
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
	for _, key := range keys {
		elem, err := encodeValue(path.Key(key.String()), v.MapIndex(key).Interface())
		if err != nil {
			return nil, err
		}
		if elem != nil {
			fields[key.String()] = elem
		}
	}
	return structpb.NewStructValue(&structpb.Struct{Fields: fields}), nil
}

// single is an object with a single property, for encoding a value.
type single struct{ value any }

// only is the name of single's property.
const only = "(the value)"

func (s *single) Lumi(p *lumi.Props) { lumi.Required(p, only, &s.value, lumi.Any) }

// within returns err with path prefixed to its faults, or to its text if it has none.
func within(path lumi.Path, err error) error {
	var output *lumi.OutputError
	if !errors.As(err, &output) {
		return fmt.Errorf("%s: %w", path, err)
	}
	var faults []error
	for _, f := range output.Faults {
		if f.Path == only {
			faults = append(faults, lumi.Faultf(path, "%s", f.Message))
		} else {
			faults = append(faults, lumi.Faultf(path.Field(string(f.Path)), "%s", f.Message))
		}
	}
	return errors.Join(faults...)
}
