// Package readable formats values of property bags for messages.
package readable

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/lumi-idl/lumi/internal/property"
	"github.com/lumi-idl/lumi/runtime/internal/signed"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// Unknown is the text shown for an unknown value.
const Unknown = "(not known yet)"

// JSON returns a value as JSON, with secrets masked and without signatures. Numbers that are not finite become strings.
func JSON(v *property.Value, indentation string) string {
	var text strings.Builder
	out := json.NewEncoder(&text)
	out.SetEscapeHTML(false)
	out.SetIndent("", indentation)
	_ = out.Encode(plain(v)) // plain returns only JSON values
	return strings.TrimSuffix(text.String(), "\n")
}

func plain(v *property.Value) any {
	inner, secret := signed.Reveal(v)
	switch {
	case signed.IsUnknown(inner):
		return Unknown
	case secret:
		return wire.Masked
	}
	switch v.Kind() {
	case property.List:
		list := make([]any, len(v.Elements()))
		for i := range list {
			list[i] = plain(v.Element(i))
		}
		return list
	case property.Object:
		fields := map[string]any{}
		for _, f := range v.Fields() {
			if f.Name != wire.Signature {
				fields[f.Name] = plain(&f.Value)
			}
		}
		if hash, ok := fields["hash"].(string); ok && signed.Signature(v) != "" {
			fields["hash"] = hash[:min(len(hash), 12)] // A prefix suffices to compare hashes.
		}
		return fields
	}
	return v.Plain()
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
