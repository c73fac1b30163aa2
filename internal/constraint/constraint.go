// Package constraint checks values against the constraints of an IDL. The TypeScript runtime implements the same rules
// and messages in src/constraints.ts. Both are tested with testdata/cases.json.
package constraint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Rule is a constraint and its argument.
type Rule struct {
	kind   kind
	number float64
	text   string
	says   string // describes the pattern in text
	match  matcher
}

type kind uint8

const (
	none kind = iota
	minimum
	exclusiveMin
	maximum
	exclusiveMax
	multipleOf
	minLength
	maxLength
	pattern
	says
	format
	minItems
	maxItems
	unique
	minProperties
	maxProperties
	keyPattern
	equal
)

// kinds maps the names of constraints in tags and JSON to their kinds.
var kinds = map[string]kind{
	"min": minimum, "exclusiveMin": exclusiveMin, "max": maximum, "exclusiveMax": exclusiveMax, "multipleOf": multipleOf,
	"minLength": minLength, "maxLength": maxLength, "pattern": pattern, "says": says, "format": format,
	"minItems": minItems, "maxItems": maxItems, "unique": unique,
	"minProperties": minProperties, "maxProperties": maxProperties, "keyPattern": keyPattern, "equal": equal,
}

// New returns the rule for a constraint. Arg is a float64, an int, a string, or true. A rule accepts every value if its
// constraint, format, or expression is invalid; the compiler rejects these. Expressions are compiled on first use.
func New(name string, arg any) Rule {
	r := Rule{kind: kinds[name]}
	switch arg := arg.(type) {
	case float64:
		r.number = arg
	case int:
		r.number = float64(arg)
	case string:
		r.text = arg
	}
	switch f := formats[r.text]; {
	case r.kind == pattern, r.kind == keyPattern:
		r.match = compile(r.text)
	case r.kind == format && f != nil:
		r.match = f
	case r.kind == format:
		r.kind = none
	}
	return r
}

// Rules returns the rules for all constraints in a sequence of names and arguments.
func Rules(all iter.Seq2[string, any]) []Rule {
	var rules []Rule
	for name, arg := range all {
		rules = Append(rules, New(name, arg))
	}
	return rules
}

// Append appends a rule. The constraint says is not a rule of its own: it describes the pattern before it.
func Append(rules []Rule, r Rule) []Rule {
	if last := len(rules) - 1; r.kind == says && last >= 0 {
		rules[last].says = r.text
		return rules
	}
	return append(rules, r)
}

// OfText returns the length limits and the pattern of strings that rules require, 0 or "" where they require none.
func OfText(rules []Rule) (least, most int, expression string) {
	for _, r := range rules {
		switch r.kind {
		case minLength:
			least = int(r.number)
		case maxLength:
			most = int(r.number)
		case pattern:
			expression = r.text
		}
	}
	return least, most, expression
}

// Number returns a message if n violates the rule, or "" if it does not. The message omits n if hidden is set.
func (r *Rule) Number(n float64, hidden bool) string {
	var limit string
	ok := true
	switch r.kind {
	case minimum:
		limit, ok = "at least ", n >= r.number
	case exclusiveMin:
		limit, ok = "more than ", n > r.number
	case maximum:
		limit, ok = "at most ", n <= r.number
	case exclusiveMax:
		limit, ok = "less than ", n < r.number
	case multipleOf:
		limit, ok = "a multiple of ", isMultiple(n, r.number)
	}
	if ok {
		return ""
	}
	return "must be " + limit + FormatNumber(r.number) + ", found " + foundNumber(n, hidden)
}

func foundNumber(n float64, hidden bool) string {
	if hidden {
		return "another number"
	}
	return FormatNumber(n)
}

// MaxInt is the largest whole number that JSON keeps exact in every language.
const MaxInt = 1<<53 - 1

// Int returns what is wrong with a number as the value of an int on a host whose largest int is max, or "".
func Int(n, max float64, hidden bool) string {
	switch max = min(max, MaxInt); {
	case n != math.Trunc(n):
		return "must be a whole number, found " + foundNumber(n, hidden)
	case math.Abs(n) > max:
		return "must be from " + FormatNumber(-max) + " to " + FormatNumber(max) + ", found " + foundNumber(n, hidden)
	}
	return ""
}

// isMultiple reports whether n is a multiple of of. It tolerates rounding errors, as with 0.3 and 0.1, and accepts
// quotients that are too large to decide.
func isMultiple(n, of float64) bool {
	q := n / of
	return !(math.Abs(q-math.Round(q)) > math.Max(1e-9, math.Abs(q)*0x1p-50))
}

// String returns a message if s violates the rule, or "" if it does not. The message omits s if hidden is set.
func (r *Rule) String(s string, hidden bool) string {
	must := "must be "
	switch r.kind {
	case minLength, maxLength:
		if n := float64(len(s)); r.kind == maxLength && n <= r.number || r.kind == minLength && n >= r.number*utf8.UTFMax {
			return "" // no need to count characters
		}
		return r.Count(utf8.RuneCountInString(s), hidden)
	case pattern:
		if must = "must match " + r.text; r.says != "" {
			must = "must be " + r.says
		}
	case format:
		must += formats[r.text].what
	default:
		return ""
	}
	if r.match.matches(s) {
		return ""
	}
	found := "another string"
	if !hidden {
		found = Quote(Shorten(s))
	}
	return must + ", found " + found
}

// counts contains the words for messages about counts.
var counts = [...]struct {
	bound, found string
	one, many    string
}{
	minLength:     {"at least", "fewer", "character", "characters"},
	maxLength:     {"at most", "more", "character", "characters"},
	minItems:      {"at least", "fewer", "element", "elements"},
	maxItems:      {"at most", "more", "element", "elements"},
	minProperties: {"at least", "fewer", "entry", "entries"},
	maxProperties: {"at most", "more", "entry", "entries"},
	equal:         {},
}

// Count returns a message if n characters, elements, or entries violate the rule, or "" if they do not. The message
// omits n if hidden is set.
func (r *Rule) Count(n int, hidden bool) string {
	c, limit := counts[r.kind], int(r.number)
	if c.bound == "" || c.found == "fewer" && n >= limit || c.found == "more" && n <= limit {
		return ""
	}
	found, parts := strconv.Itoa(n), c.many
	if hidden {
		found = c.found
	}
	if limit == 1 {
		parts = c.one
	}
	return fmt.Sprintf("must have %s %d %s, found %s", c.bound, limit, parts, found)
}

// IsUnique reports whether the rule requires list elements to be distinct.
func (r *Rule) IsUnique() bool { return r.kind == unique }

// Equal returns a message if two elements of a list that must be distinct are equal, or "" if there are none. Equal
// elements have equal identities; an unknown element has the identity "".
func Equal(identities []string) string {
	first := make(map[string]int, len(identities))
	for i, id := range identities {
		if j, ok := first[id]; ok && id != "" {
			return fmt.Sprintf("must have no equal elements, but [%d] and [%d] are equal", j, i)
		}
		first[id] = i
	}
	return ""
}

// ExactlyOne returns a message unless exactly one of names is present, in which case it returns "".
func ExactlyOne(names, present []string) string {
	found := strings.Join(present, ", ")
	switch len(present) {
	case 0:
		found = "none"
	case 1:
		return ""
	}
	return "exactly one of " + strings.Join(names, ", ") + " is required, found " + found
}

// Key returns a message if a map key violates the rule, or "" if it does not.
func (r *Rule) Key(key string) string {
	if r.kind != keyPattern || r.match.matches(key) {
		return ""
	}
	return "the key must match " + r.text
}

// FormatNumber formats a finite number as JavaScript does.
func FormatNumber(n float64) string {
	if n == 0 {
		return "0" // includes negative zero
	}
	text, _ := json.Marshal(n)
	return string(text)
}

// Shorten returns s or, if it is longer than 80 characters, its first 80 characters followed by an ellipsis.
func Shorten(s string) string {
	const longest = 80
	if n := 0; len(s) > longest {
		for i := range s {
			if n++; n > longest {
				return s[:i] + "…"
			}
		}
	}
	return s
}

// Quote returns s as a JSON string.
func Quote(s string) string { return string(AppendQuote(nil, s)) }

// AppendQuote appends s to to as a JSON string. If s is not valid UTF-8, it is quoted as in Go.
func AppendQuote(to []byte, s string) []byte {
	if special := func(r rune) bool { return !strconv.IsPrint(r) }; !utf8.ValidString(s) || !strings.ContainsFunc(s, special) {
		return strconv.AppendQuote(to, s)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s)
	return append(to, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}
