// Package readable formats values of property bags for messages.
package readable

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/runtime/internal/signed"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// Unknown is the text shown for an unknown value.
const Unknown = "(not known yet)"

// JSON returns a value as JSON, with secrets masked and without signatures. Numbers that are not finite become strings.
func JSON(v *structpb.Value, indentation string) string {
	var text strings.Builder
	out := json.NewEncoder(&text)
	out.SetEscapeHTML(false)
	out.SetIndent("", indentation)
	_ = out.Encode(plain(v)) // plain returns only JSON values
	return strings.TrimSuffix(text.String(), "\n")
}

func plain(v *structpb.Value) any {
	inner, secret := signed.Reveal(v)
	switch {
	case signed.IsUnknown(inner):
		return Unknown
	case secret:
		return wire.Masked
	}
	switch k := v.GetKind().(type) {
	case *structpb.Value_ListValue:
		list := make([]any, len(k.ListValue.GetValues()))
		for i, elem := range k.ListValue.GetValues() {
			list[i] = plain(elem)
		}
		return list
	case *structpb.Value_StructValue:
		fields := map[string]any{}
		for key, field := range k.StructValue.GetFields() {
			if key != wire.Signature {
				fields[key] = plain(field)
			}
		}
		if hash, ok := fields["hash"].(string); ok && signed.Signature(v) != "" {
			fields["hash"] = hash[:min(len(hash), 12)] // A prefix suffices to compare hashes.
		}
		return fields
	}
	return v.AsInterface()
}

// Shorten returns s, truncated to at most limit bytes with a mark at the end if it is longer.
func Shorten(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "…"
}
