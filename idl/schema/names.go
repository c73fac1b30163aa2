package schema

import (
	"go/token"
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsExported reports whether a Go name is visible outside its package.
func IsExported(name string) bool { return token.IsExported(name) }

// PropertyName derives a property name from a field name. It lowers the leading capitals, except the last one before a
// lower-case letter: Bar becomes bar, VPC vpc, IPProtocol ipProtocol, and CIDRIP cidrip.
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

// MemberKeys derives the names of enum constants in languages that nest them in the enum. It drops the enum's name if
// it is a prefix of all constants or a suffix of all, and the remaining names are distinct identifiers. The result is
// parallel to e.Members.
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

// cutAll returns all names shortened, and false if one cannot be shortened.
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

// cutTypePrefix removes the prefix typ from s if a word ends there: Apple is not the constant "pple" of a type A.
func cutTypePrefix(s, typ string) (string, bool) {
	rest, ok := strings.CutPrefix(s, typ)
	first, _ := utf8.DecodeRuneInString(rest)
	return rest, ok && unicode.IsUpper(first)
}
