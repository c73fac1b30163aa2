package schema

import (
	"go/token"
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsExported reports whether name is an exported Go name.
func IsExported(name string) bool { return token.IsExported(name) }

// PropertyName derives a property name from a field name by lowering leading capitals, except the last one before a
// lower-case letter. For example, Bar becomes bar, VPC becomes vpc, IPProtocol becomes ipProtocol, and CIDRIP becomes
// cidrip.
func PropertyName(field string) string {
	runes := []rune(field)
	for i, r := range runes {
		if !unicode.IsUpper(r) {
			break
		}
		if i > 0 && i+1 < len(runes) && unicode.IsLower(runes[i+1]) {
			break
		}
		runes[i] = unicode.ToLower(r)
	}
	return string(runes)
}

// MemberKeys returns the names of enum constants for languages that nest constants inside the enum, in the order of
// e.Members. If the enum's name is a prefix or a suffix of all constants, it is dropped, provided that the remaining
// names are distinct identifiers.
func MemberKeys(e *Enum) []string {
	keys := make([]string, len(e.Members))
	for i, m := range e.Members {
		keys[i] = m.Name
	}
	for _, cut := range []func(s, typ string) (string, bool){cutTypePrefix, strings.CutSuffix} {
		if short, ok := cutAll(keys, e.Name, cut); ok {
			return short
		}
	}
	return keys
}

// cutAll applies cut to all names. It returns false if any name cannot be cut or the results are not distinct
// identifiers.
func cutAll(names []string, typ string, cut func(s, typ string) (string, bool)) ([]string, bool) {
	short := make([]string, len(names))
	seen := make(map[string]bool, len(names))
	for i, name := range names {
		key, ok := cut(name, typ)
		if !ok || !token.IsIdentifier(key) && !token.IsKeyword(key) || seen[key] {
			return nil, false
		}
		short[i], seen[key] = key, true
	}
	return short, true
}

// cutTypePrefix removes the prefix typ from s. It returns false unless typ ends at a word boundary: in a type A, the
// constant Apple does not become "pple".
func cutTypePrefix(s, typ string) (string, bool) {
	rest, ok := strings.CutPrefix(s, typ)
	first, _ := utf8.DecodeRuneInString(rest)
	return rest, ok && unicode.IsUpper(first)
}
