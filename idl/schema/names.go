package schema

import (
	"go/token"
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsExported reports whether a Go name is visible outside its package.
func IsExported(name string) bool { return token.IsExported(name) }

// PropertyName derives the name of a property from the name of its field, unless the tag gives one. The leading run of
// capitals is lowered, but for the last of them where a lower-case letter follows: Bar becomes bar, VPC vpc,
// IPProtocol ipProtocol and CIDRIP cidrip.
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

// MemberKeys derives the keys of an enum's constants in languages where these stand inside the enum: their names
// without the type's name, where all share it as a prefix or as a suffix and what is left are distinct identifiers.
// The result is parallel to e.Members.
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

// cutAll shortens every name, or reports that one of them cannot be.
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

// cutTypePrefix cuts typ from the front of s where a word ends there: Apple is no constant "pple" of a type A.
func cutTypePrefix(s, typ string) (string, bool) {
	rest, ok := strings.CutPrefix(s, typ)
	first, _ := utf8.DecodeRuneInString(rest)
	return rest, ok && unicode.IsUpper(first)
}
