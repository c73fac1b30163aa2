package providertest

import (
	"iter"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/internal/signed"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// clone copies a bag. The copy has fields that can be set.
func clone(bag *structpb.Struct) *structpb.Struct {
	made := &structpb.Struct{Fields: map[string]*structpb.Value{}}
	proto.Merge(made, bag)
	return made
}

// merge makes one bag of several. Later ones win.
func merge(bags ...*structpb.Struct) *structpb.Struct {
	made := &structpb.Struct{Fields: map[string]*structpb.Value{}}
	for _, bag := range bags {
		maps.Copy(made.Fields, clone(bag).Fields)
	}
	return made
}

// reveal takes the wrappers of a secret away.
func reveal(v *structpb.Value) *structpb.Value {
	inner, _ := signed.Reveal(v)
	return inner
}

// parts walks over a value and all values inside, secrets included, until the function returns false for one, whose
// parts are then left out. Keys of secrets' wrappers are no parts of paths.
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
		plain := signed.Signature(v) == ""
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

// texts are the strings in a value.
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

// at finds the value at a path, nil if there is none.
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

// isForeign reports whether a value is one that a cloud does not know and cannot give back: a capability, since there
// are no URNs in a cloud, or where an asset came from.
func isForeign(v *structpb.Value) bool {
	switch k := reveal(v).GetKind().(type) {
	case *structpb.Value_StringValue:
		_, err := urn.Parse(k.StringValue)
		return err == nil
	case *structpb.Value_ListValue:
		values := k.ListValue.GetValues()
		return len(values) > 0 && !slices.ContainsFunc(values, func(v *structpb.Value) bool { return !isForeign(v) })
	case *structpb.Value_StructValue:
		if signed.IsContent(v) {
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

// replaceAt puts a value at the place of another, and reports whether there is such a place.
func replaceAt(bag *structpb.Struct, path lumi.Path, by *structpb.Value) bool {
	v := at(bag, path)
	if v == nil || path == "" {
		return false
	}
	v.Kind = by.GetKind()
	return true
}
