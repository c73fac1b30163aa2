package tftest

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// letters returns a name without case and underscores. It is the same for a name in Lumi and in OpenTofu.
func letters(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// match finds the name in OpenTofu of what Lumi calls key.
func match(names iter.Seq[string], key string) (found string, ok bool) {
	for name := range names {
		if letters(name) == letters(key) && name >= found {
			found, ok = name, true
		}
	}
	return found, ok
}

// encoded returns a value as it is sent.
func encoded(t tftypes.Type, v tftypes.Value) *tfprotov6.DynamicValue {
	sent, err := tfprotov6.NewDynamicValue(t, v)
	if err != nil {
		panic(err) // the value was made for the type
	}
	return &sent
}

// unknown is a value that is not known yet, and reference is a reference to a whole resource.
type (
	unknown   struct{}
	reference struct {
		of string
		id tftypes.Value
	}
)

// valueOf converts a value of a fixture to a type of a schema. It is nil, a bool, float64, or string, a list or map of values, an
// unknown or reference, or a value of another resource.
func valueOf(t tftypes.Type, v any) (tftypes.Value, error) {
	_, isObject := t.(tftypes.Object)
	switch v := v.(type) {
	case nil:
		return tftypes.NewValue(t, nil), nil
	case unknown:
		return tftypes.NewValue(t, tftypes.UnknownValue), nil
	case bool:
		return scalar(tftypes.Bool, t, v)
	case float64:
		return scalar(tftypes.Number, t, v)
	case string:
		return scalar(tftypes.String, t, v)
	case reference:
		if isObject {
			return valueOf(t, map[string]any{"type": v.of, "id": v.id})
		}
		return valueOf(t, v.id)
	case tftypes.Value:
		if !v.Type().UsableAs(t) {
			return v, fmt.Errorf("cannot use a %s as a %s", v.Type(), t)
		}
		return v, nil
	}
	if t.Is(tftypes.String) { // where a struct contains itself
		encoded, err := json.Marshal(v)
		return tftypes.NewValue(t, string(encoded)), err
	}
	if list, ok := v.([]any); ok {
		return listOf(t, list)
	}
	return mapOf(t, v.(map[string]any))
}

// scalar returns a value of type own for an attribute of type t.
func scalar(own, t tftypes.Type, v any) (tftypes.Value, error) {
	if !own.UsableAs(t) {
		return tftypes.Value{}, fmt.Errorf("cannot use a %s as a %s", own, t)
	}
	return tftypes.NewValue(own, v), nil
}

func listOf(t tftypes.Type, list []any) (tftypes.Value, error) {
	values, types := []tftypes.Value{}, []tftypes.Type{}
	for i, element := range list {
		_, of, _ := member(t, "")
		v, err := valueOf(of, element)
		if err != nil {
			return v, fmt.Errorf("[%d]: %w", i, err)
		}
		values, types = append(values, v), append(types, v.Type())
	}
	if t.Is(tftypes.DynamicPseudoType) {
		t = tftypes.Tuple{ElementTypes: types}
	}
	return made(t, values)
}

func mapOf(t tftypes.Type, members map[string]any) (tftypes.Value, error) {
	values, types := map[string]tftypes.Value{}, map[string]tftypes.Type{}
	if object, ok := t.(tftypes.Object); ok {
		for name, attr := range object.AttributeTypes {
			values[name] = tftypes.NewValue(attr, nil)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(members)) {
		name, of, ok := member(t, key)
		if !ok {
			return tftypes.Value{}, fmt.Errorf("%s: no such attribute", key)
		}
		v, err := valueOf(of, members[key])
		if err != nil {
			return v, fmt.Errorf("%s: %w", key, err)
		}
		values[name], types[name] = v, v.Type()
	}
	if t.Is(tftypes.DynamicPseudoType) {
		t = tftypes.Object{AttributeTypes: types}
	}
	return made(t, values)
}

// made is tftypes.NewValue with an error instead of a panic.
func made(t tftypes.Type, v any) (tftypes.Value, error) {
	if err := tftypes.ValidateValue(t, v); err != nil {
		return tftypes.Value{}, err
	}
	return tftypes.NewValue(t, v), nil
}

// member returns the name and type of the attribute or element of t that Lumi calls key.
func member(t tftypes.Type, key string) (name string, of tftypes.Type, ok bool) {
	switch t := t.(type) {
	case tftypes.List:
		return key, t.ElementType, true
	case tftypes.Map:
		return key, t.ElementType, true
	case tftypes.Object:
		found, ok := match(maps.Keys(t.AttributeTypes), key)
		return found, t.AttributeTypes[found], ok
	}
	return key, tftypes.DynamicPseudoType, true
}

// text formats a value for a message.
func text(v tftypes.Value) string {
	if !v.IsKnown() {
		return "unknown"
	}
	encoded, err := json.Marshal(plain(v.Type(), v))
	if err != nil {
		return err.Error()
	}
	return string(encoded)
}

// plain returns a value of an attribute of type t in the form of JSON in which OpenTofu stores it.
func plain(t tftypes.Type, v tftypes.Value) any {
	if t.Is(tftypes.DynamicPseudoType) && !v.IsNull() && v.IsKnown() {
		return map[string]any{"type": v.Type(), "value": plain(v.Type(), v)}
	}
	var number *big.Float
	var list []tftypes.Value
	var members map[string]tftypes.Value
	var word string
	switch {
	case !v.IsKnown():
		return "(unknown)"
	case v.IsNull():
		return nil
	case v.As(&number) == nil:
		return json.Number(number.Text('f', -1))
	case v.As(&list) == nil:
		made := []any{}
		for i, element := range list {
			_, of, _ := member(t, "")
			if tuple, ok := t.(tftypes.Tuple); ok {
				of = tuple.ElementTypes[i]
			}
			made = append(made, plain(of, element))
		}
		return made
	case v.As(&members) == nil:
		made := map[string]any{}
		for key, element := range members {
			_, of, _ := member(t, key)
			made[key] = plain(of, element)
		}
		return made
	case v.As(&word) == nil:
		return word
	}
	var yes bool
	return v.As(&yes) == nil && yes
}
