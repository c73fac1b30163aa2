package constraint

import (
	"encoding/json"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Equality describes how values are compared. The zero value and nil compare them exactly. It may be cyclic.
type Equality struct {
	// As is the option equal= of the value itself, or "".
	As string
	// Elements compares the elements of a list or map, Properties the properties of an object.
	Elements   *Equality
	Properties map[string]*Equality
}

// Set is the Equality.As of lists whose order and repetitions do not matter.
const Set = "set"

// readers return a canonical form of a string, equal for equal strings, and whether it can be read. equal.ts contains the
// same forms.
var readers = map[string]func(s string) (string, bool){
	"caseless": func(s string) (string, bool) { return lower(s), true },
	"decimal":  readDecimal,
	"duration": readDuration,
	"instant":  readInstant,
	"json":     readJSON,
}

// Equalities returns the values of the option equal=, sorted.
func Equalities() []string {
	return slices.Sorted(slices.Values(append(slices.Collect(maps.Keys(readers)), Set)))
}

// Equality returns how the rule compares values, or "" if it is another one.
func (r *Rule) Equality() string {
	if r.kind == equal {
		return r.text
	}
	return ""
}

// Any reports whether any values are compared other than exactly.
func (e *Equality) Any() bool {
	return e != nil && (e.As != "" || e.Elements != nil || e.Properties != nil) && e.any(map[*Equality]bool{})
}

func (e *Equality) any(seen map[*Equality]bool) bool {
	if e == nil || seen[e] {
		return false
	}
	seen[e] = true
	if e.As != "" || e.Elements.any(seen) {
		return true
	}
	for _, part := range e.Properties {
		if part.any(seen) {
			return true
		}
	}
	return false
}

// at returns how a member of an object or map is compared.
func (e *Equality) at(key string) *Equality {
	if e == nil || e.Properties == nil {
		return e.element()
	}
	return e.Properties[key]
}

func (e *Equality) element() *Equality {
	if e == nil {
		return nil
	}
	return e.Elements
}

// Unknown is a part of a value that is not known yet.
type Unknown struct{}

// Identity returns a string that is the same for equal values, as decoded by encoding/json. It returns "" if a part is
// [Unknown].
func (e *Equality) Identity(v any) string {
	var b strings.Builder
	if !e.identify(&b, v) {
		return ""
	}
	return b.String()
}

func (e *Equality) identify(b *strings.Builder, v any) bool {
	switch v := v.(type) {
	case string:
		if read := readers[e.as()]; read == nil {
			b.WriteString(strconv.Quote(v))
		} else if text, ok := read(v); ok {
			b.WriteString("=" + strconv.Quote(text))
		} else {
			b.WriteString(strconv.Quote(v))
		}
	case Unknown:
		return false
	case float64:
		b.WriteString(FormatNumber(v))
	case bool:
		b.WriteString(strconv.FormatBool(v))
	case []any:
		parts := make([]string, len(v))
		for i, part := range v {
			if parts[i] = e.element().Identity(part); parts[i] == "" {
				return false
			}
		}
		if e.as() == Set {
			slices.Sort(parts)
			parts = slices.Compact(parts)
		}
		b.WriteString("[" + strings.Join(parts, ",") + "]")
	case map[string]any:
		b.WriteByte('{')
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if v[key] == nil {
				continue
			}
			b.WriteString(strconv.Quote(key) + ":")
			if !e.at(key).identify(b, v[key]) {
				return false
			}
			b.WriteByte(',')
		}
		b.WriteByte('}')
	default:
		b.WriteString("null")
	}
	return true
}

func (e *Equality) as() string {
	if e == nil {
		return ""
	}
	return e.As
}

// Equal calls found for the outermost parts that are equal in two values, but not the same. A path consists of strings
// and ints. Unknown parts are never equal, nor is nil, an absent value, equal to a present one.
func (e *Equality) Equal(old, now any, path []any, found func(path []any)) {
	if e == nil || old == nil || now == nil {
		return
	}
	if id := e.Identity(now); id != "" && id == e.Identity(old) {
		if exact := (*Equality)(nil); exact.Identity(old) != exact.Identity(now) {
			found(path)
		}
		return
	}
	path = slices.Clip(path)
	switch now := now.(type) {
	case []any:
		olds, _ := old.([]any)
		for i := 0; i < min(len(olds), len(now)) && e.As != Set; i++ {
			e.Elements.Equal(olds[i], now[i], append(path, i), found)
		}
	case map[string]any:
		olds, _ := old.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(now)) {
			e.at(key).Equal(olds[key], now[key], append(path, key), found)
		}
	}
}

func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

var decimalForm = regexp.MustCompile(`^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,9}))?$`)

// readDecimal returns a number as digits and an exponent, without superfluous zeros.
func readDecimal(s string) (string, bool) {
	m := decimalForm.FindStringSubmatch(s)
	if m == nil {
		return "", false
	}
	exponent, _ := strconv.Atoi(m[4]) // 0 if there is none
	digits := strings.TrimLeft(m[2]+m[3], "0")
	short := strings.TrimRight(digits, "0")
	if short == "" {
		return "0", m[2]+m[3] != ""
	}
	return strings.TrimPrefix(m[1], "+") + short + "e" + strconv.Itoa(exponent-len(m[3])+len(digits)-len(short)), true
}

var durationForm = regexp.MustCompile(
	`^P(?:(\d+)W|(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?)$`)

// readDuration returns a duration in months and seconds. A day has 24 hours; months differ in length.
func readDuration(s string) (string, bool) {
	m := durationForm.FindStringSubmatch(s)
	if m == nil || !formats["duration"].matches(s) {
		return "", false
	}
	sum := func(of map[int]int64) string {
		total := new(big.Int)
		for group, factor := range of {
			n, _ := new(big.Int).SetString("0"+m[group], 10)
			total.Add(total, n.Mul(n, big.NewInt(factor)))
		}
		return total.String()
	}
	const hour = 60 * 60
	return sum(map[int]int64{2: 12, 3: 1}) + "M" + sum(map[int]int64{1: 7 * 24 * hour, 4: 24 * hour, 5: hour, 6: 60, 7: 1}), true
}

// readInstant returns a timestamp in seconds since 1970, with all digits.
func readInstant(s string) (string, bool) {
	if !formats["date-time"].matches(s) {
		return "", false
	}
	const seconds = len("2006-01-02T15:04:05")
	fraction := s[seconds:strings.LastIndexAny(s, "Z+-")]
	t, err := time.Parse(time.RFC3339, s[:seconds]+s[seconds+len(fraction):])
	return strconv.FormatInt(t.Unix(), 10) + strings.TrimRight(fraction, ".0"), err == nil
}

// readJSON returns a JSON text with sorted keys, without spaces, and with numbers as in readDecimal. Texts that programs
// read differently cannot be read: with repeated keys or incomplete characters.
func readJSON(s string) (string, bool) {
	var b strings.Builder
	dec := json.NewDecoder(strings.NewReader(s))
	dec.UseNumber()
	ok := json.Valid([]byte(s)) && canonical(&b, dec, 0)
	return b.String(), ok
}

// deepest is the depth of JSON texts to read. It limits recursion in TypeScript.
const deepest = 500

func canonical(b *strings.Builder, dec *json.Decoder, depth int) bool {
	if depth > deepest {
		return false
	}
	token, err := dec.Token()
	switch v := token.(type) {
	case json.Delim:
		if v == '[' {
			b.WriteByte('[')
			for ; dec.More(); b.WriteByte(',') {
				if !canonical(b, dec, depth+1) {
					return false
				}
			}
			b.WriteByte(']')
		} else if !members(b, dec, depth) {
			return false
		}
		_, err = dec.Token()
	case json.Number:
		text, ok := readDecimal(v.String())
		b.WriteString(text)
		return ok
	case string:
		b.WriteString(strconv.Quote(v))
		return !strings.ContainsRune(v, '\uFFFD')
	case bool:
		b.WriteString(strconv.FormatBool(v))
	default:
		b.WriteString("null")
	}
	return err == nil
}

// members writes the members of a JSON object.
func members(b *strings.Builder, dec *json.Decoder, depth int) bool {
	all := map[string]string{}
	for dec.More() {
		token, err := dec.Token()
		key, _ := token.(string)
		var value strings.Builder
		if _, again := all[key]; again || err != nil || strings.ContainsRune(key, '\uFFFD') || !canonical(&value, dec, depth+1) {
			return false
		}
		all[key] = value.String()
	}
	b.WriteByte('{')
	for _, key := range slices.Sorted(maps.Keys(all)) {
		b.WriteString(strconv.Quote(key) + ":" + all[key] + ",")
	}
	b.WriteByte('}')
	return true
}
