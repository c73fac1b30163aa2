package providertest

import (
	"iter"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/internal/property"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/internal/readable"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// clone returns a deep copy of a bag with a non-nil Fields map.
func clone(bag *structpb.Struct) *structpb.Struct {
	made := &structpb.Struct{Fields: map[string]*structpb.Value{}}
	proto.Merge(made, bag)
	return made
}

// merge returns a new bag with the properties of all bags. For duplicate names, the last value wins.
func merge(bags ...*structpb.Struct) *structpb.Struct {
	made := &structpb.Struct{Fields: map[string]*structpb.Value{}}
	for _, bag := range bags {
		maps.Copy(made.Fields, clone(bag).Fields)
	}
	return made
}

func reveal(v *structpb.Value) *structpb.Value {
	for isSecret(v) {
		v = v.GetStructValue().GetFields()["value"]
	}
	return v
}

func isNull(v *structpb.Value) bool {
	_, null := v.GetKind().(*structpb.Value_NullValue)
	return null || v.GetKind() == nil
}

func isUnknown(v *structpb.Value) bool { return v.GetStringValue() == wire.Unknown }

func isSecret(v *structpb.Value) bool { return signature(v) == wire.Secret }

func isContent(v *structpb.Value) bool {
	s := signature(v)
	return s == wire.Asset || s == wire.Archive
}

func signature(v *structpb.Value) string {
	return v.GetStructValue().GetFields()[wire.Signature].GetStringValue()
}

// readableJSON returns a value as JSON, as shown in messages.
func readableJSON(v *structpb.Value, indentation string) string {
	shown := property.FromMessage(v)
	return readable.JSON(&shown, indentation)
}

// parts calls visit for v and for all values inside it, including secrets. If visit returns false, it skips the parts of the
// value. The value in a secret wrapper has the same path as the wrapper.
func parts(p lumi.Path, v *structpb.Value, visit func(p lumi.Path, v *structpb.Value) bool) {
	if !visit(p, v) {
		return
	}
	switch k := v.GetKind().(type) {
	case *structpb.Value_ListValue:
		for i, elem := range k.ListValue.GetValues() {
			parts(p.Index(i), elem, visit)
		}
	case *structpb.Value_StructValue:
		plain := signature(v) == ""
		for key, field := range k.StructValue.GetFields() {
			switch {
			case plain:
				parts(p.Key(key), field, visit)
			case key != wire.Signature:
				parts(p, field, visit)
			}
		}
	}
}

// texts returns an iterator over the strings in v.
func texts(v *structpb.Value) iter.Seq[string] {
	return func(yield func(string) bool) {
		more := true
		parts("", v, func(_ lumi.Path, v *structpb.Value) bool {
			if s, ok := v.GetKind().(*structpb.Value_StringValue); ok && more {
				more = yield(s.StringValue)
			}
			return more
		})
	}
}

// at returns the value at a path, or nil if there is none.
func at(bag *structpb.Struct, path lumi.Path) *structpb.Value {
	var found *structpb.Value
	parts("", structpb.NewStructValue(bag), func(p lumi.Path, v *structpb.Value) bool {
		if p == path && found == nil {
			found = v
		}
		return found == nil && p.Holds(path)
	})
	return found
}

// isForeign reports whether clouds cannot return a value, because it consists only of resource references and assets.
func isForeign(v *structpb.Value) bool {
	switch k := reveal(v).GetKind().(type) {
	case *structpb.Value_StringValue:
		_, err := urn.Parse(k.StringValue)
		return err == nil
	case *structpb.Value_ListValue:
		values := k.ListValue.GetValues()
		return len(values) > 0 && !slices.ContainsFunc(values, func(v *structpb.Value) bool { return !isForeign(v) })
	case *structpb.Value_StructValue:
		if isContent(v) {
			return true
		}
		for _, field := range k.StructValue.GetFields() {
			if !isForeign(field) {
				return false
			}
		}
		return len(k.StructValue.GetFields()) > 0
	}
	return false
}

// replaceAt replaces the value at a path. It returns false if there is none.
func replaceAt(bag *structpb.Struct, path lumi.Path, by *structpb.Value) bool {
	v := at(bag, path)
	if v == nil || path == "" {
		return false
	}
	v.Kind = by.GetKind()
	return true
}
