package bridge

import (
	"maps"
	"slices"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// WithForeign returns properties that were read with the stored references, assets, and archives that they lack, since clouds store
// neither URNs nor where files come from. Assets and archives that they have are the stored ones, too.
func WithForeign(read, stored map[string]*structpb.Value) map[string]*structpb.Value {
	fields := make(map[string]*structpb.Value, len(read))
	maps.Copy(fields, read)
	for key, was := range stored {
		if v := withForeignParts(read[key], was); v != nil {
			fields[key] = v
		}
	}
	return fields
}

func withForeignParts(read, stored *structpb.Value) *structpb.Value {
	now, was := Reveal(read), Reveal(stored)
	switch {
	case IsNull(now) && isForeign(was), isContent(now) && isContent(was):
		return stored
	case now.GetListValue() != nil && was.GetListValue() != nil:
		values := slices.Clone(now.GetListValue().GetValues())
		for i, was := range was.GetListValue().GetValues()[:min(len(values), len(was.GetListValue().GetValues()))] {
			values[i] = withForeignParts(values[i], was)
		}
		return structpb.NewListValue(&structpb.ListValue{Values: values})
	case now.GetStructValue() != nil && was.GetStructValue() != nil:
		fields := WithForeign(now.GetStructValue().GetFields(), was.GetStructValue().GetFields())
		return structpb.NewStructValue(&structpb.Struct{Fields: fields})
	}
	return read
}

// isForeign reports whether a value consists of references, assets, and archives.
func isForeign(v *structpb.Value) bool {
	v = Reveal(v)
	other := func(v *structpb.Value) bool { return !isForeign(v) }
	switch k := v.GetKind().(type) {
	case *structpb.Value_StringValue:
		_, is := urn.URN(k.StringValue).ID()
		return is
	case *structpb.Value_ListValue:
		return len(k.ListValue.GetValues()) > 0 && !slices.ContainsFunc(k.ListValue.GetValues(), other)
	case *structpb.Value_StructValue:
		parts := slices.Collect(maps.Values(k.StructValue.GetFields()))
		return isContent(v) || len(parts) > 0 && !slices.ContainsFunc(parts, other)
	}
	return false
}

// isContent reports whether a value is an asset or an archive.
func isContent(v *structpb.Value) bool {
	signature := v.GetStructValue().GetFields()[wire.Signature].GetStringValue()
	return signature == wire.Asset || signature == wire.Archive
}

// Reveal returns v without secret wrappers.
func Reveal(v *structpb.Value) *structpb.Value {
	for fields := v.GetStructValue().GetFields(); fields[wire.Signature].GetStringValue() == wire.Secret; {
		v = fields["value"]
		fields = v.GetStructValue().GetFields()
	}
	return v
}

// IsNull reports whether a value is absent, also inside secret wrappers.
func IsNull(v *structpb.Value) bool {
	switch Reveal(v).GetKind().(type) {
	case nil, *structpb.Value_NullValue:
		return true
	}
	return false
}
