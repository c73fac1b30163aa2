package yaql

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// text formats v as Python's str does.
func (c *Call) text(v any) (string, error) {
	if s, ok := v.(string); ok {
		return s, nil
	}
	return c.notation(v, false)
}

// notation formats v as a Python literal. The form of dates and time spans depends on whether they are nested in a
// collection.
func (c *Call) notation(v any, nested bool) (string, error) {
	var b strings.Builder
	err := c.write(&b, v, nested)
	return b.String(), err
}

func (c *Call) write(b *strings.Builder, v any, nested bool) error {
	if err := c.Reserve(int64(b.Len())); err != nil {
		return err
	}
	switch v := v.(type) {
	case nil:
		b.WriteString("None")
	case bool:
		b.WriteString(map[bool]string{true: "True", false: "False"}[v])
	case int64:
		b.WriteString(strconv.FormatInt(v, 10))
	case *big.Int:
		s, err := decimal(v)
		b.WriteString(s)
		return err
	case float64:
		b.WriteString(floatNotation(v, -1, 16))
	case string:
		b.WriteString(quote(v))
	case *List:
		switch {
		case v.mutable:
			return c.writeItems(b, "[", v.items, "]")
		case len(v.items) == 1:
			return c.writeItems(b, "(", v.items, ",)")
		}
		return c.writeItems(b, "(", v.items, ")")
	case *Set:
		if len(v.items) == 0 {
			return c.writeItems(b, "frozenset(", nil, ")")
		}
		return c.writeItems(b, "frozenset({", v.items, "})")
	case *Dict:
		items := make([]any, len(v.entries))
		for i, e := range v.entries {
			items[i] = e
		}
		return c.writeItems(b, "{", items, "}")
	case entry:
		if err := c.write(b, v.key, true); err != nil {
			return err
		}
		b.WriteString(": ")
		return c.write(b, v.value, true)
	case time.Time:
		b.WriteString(timeText(v, nested))
	case TimeSpan:
		b.WriteString(spanText(v, nested))
	case Opaque:
		return v.YAQLOpaque()
	default:
		b.WriteString("<" + typeName(v) + ">")
	}
	return c.Tick()
}

func (c *Call) writeItems(b *strings.Builder, open string, items []any, closing string) error {
	b.WriteString(open)
	for i, x := range items {
		if i > 0 {
			b.WriteString(", ")
		}
		if err := c.write(b, x, true); err != nil {
			return err
		}
	}
	b.WriteString(closing)
	return nil
}

func decimal(n *big.Int) (string, error) {
	s := n.String()
	if len(strings.TrimPrefix(s, "-")) > maxTextDigits {
		return "", Errorf(Value, "integer of more than %d digits", maxTextDigits)
	}
	return s, nil
}

// formatter replaces the fields of a template.
type formatter struct {
	c *Call
	// next is the number of the next {} field. numbered is set after a field with an explicit number.
	next     int
	numbered bool
}

var (
	// formatField matches a field, an escaped brace, or an unmatched brace. The groups of a field are the argument,
	// indices, an attribute, a conversion, and a format.
	formatField = regexp.MustCompile(`(?s)\{\{|\}\}|` +
		`\{([^\[{}.:!]*)((?:\[[^\]]+\])*)(\.[^{}:!]*)?(?:!(.))?(?::([^{}]*))?\}|[{}]`)
	formatIndex = regexp.MustCompile(`\[([^\]]+)\]`)
	decimalText = regexp.MustCompile(`^[0-9]+$`)
)

func formatString(c *Call) (any, error) {
	f, rest, size := formatter{c: c}, c.String(0), int64(0)
	var parts []any
	for m := formatField.FindStringSubmatch(rest); m != nil; m = formatField.FindStringSubmatch(rest) {
		v, err := f.field(m)
		if size += 32 + sizeOf(v); err == nil {
			err = c.Reserve(size)
		}
		if err != nil {
			return nil, err
		}
		before, after, _ := strings.Cut(rest, m[0])
		parts, rest = append(parts, before, v), after
	}
	return c.join(iterateSlice(append(parts, rest)), "", true)
}

// field returns the replacement for a match of formatField: a string or an opaque value.
func (f *formatter) field(m []string) (any, error) {
	switch m[0] {
	case "{{", "}}":
		return m[0][:1], nil
	case "{", "}":
		return "", Errorf(Value, "unmatched %s, or an invalid or nested field, in format", m[0])
	}
	v, err := f.argument(m[1])
	for _, index := range formatIndex.FindAllStringSubmatch(m[2], -1) {
		if err == nil {
			v, err = f.c.part(v, index[1])
		}
	}
	switch {
	case err != nil:
	case m[3] != "":
		err = Errorf(TypeError, "format cannot reach attributes of values, as in %s", shorten(m[0]))
	case m[4] == "s":
		v, err = f.c.text(v)
	case m[4] == "r":
		v, err = f.c.notation(v, true)
	case m[4] != "":
		err = Errorf(Value, "unknown or unsupported conversion %q", m[4])
	}
	if _, ok := v.(Text); err != nil || ok && m[5] == "" {
		return v, err
	}
	return f.c.formatValue(v, m[5])
}

// argument returns the argument with the given name or number. If name is "", it returns the next argument.
func (f *formatter) argument(name string) (any, error) {
	if name != "" && !decimalText.MatchString(name) {
		i := findNamed(f.c.others, name)
		if i < 0 {
			return nil, Errorf(Key, "format has no argument %s", shorten(name))
		}
		return f.c.others[i].value, nil
	}
	n := f.next
	if name == "" {
		f.next++
	} else {
		f.numbered = true
		n, _ = strconv.Atoi(name) // the maximum int on overflow
	}
	switch {
	case f.numbered && f.next > 0:
		return nil, Errorf(Value, "format mixes numbered fields and fields without numbers")
	case n >= len(f.c.rest):
		return nil, Errorf(Index, "format has no argument %d", n)
	}
	return f.c.rest[n], nil
}

// part returns the element of v with the given key or index.
func (c *Call) part(v any, key string) (any, error) {
	var at any = key
	if decimalText.MatchString(key) {
		n, err := strconv.ParseInt(key, 10, 64)
		if err != nil {
			return nil, Errorf(Value, "index %s is out of range", shorten(key))
		}
		at = n
	}
	from := v
	if s, ok := v.(string); ok {
		var err error
		if from, err = c.characters(s); err != nil {
			return nil, err
		}
	}
	item, ok, err := index(c.ev, from, at)
	if !ok && err == nil {
		err = Errorf(TypeError, "%s has no part %s", typeName(v), shorten(key))
	}
	return item, err
}

// formatSpec is a parsed format, the part of a field after the colon.
type formatSpec struct {
	fill, align, sign       string
	alternate               bool
	width, precision        int
	separator, letter, text string
}

var specPattern = regexp.MustCompile(`(?s)^(?:(.?)([<>=^]))?([-+ ]?)(#?)(0?)([0-9]*)([,_]?)(?:\.([0-9]+))?(.?)$`)

// parseSpec parses a format. align is the default alignment.
func parseSpec(s, align string) (*formatSpec, error) {
	m := specPattern.FindStringSubmatch(s)
	if m == nil {
		return nil, Errorf(Value, "invalid format %q", shorten(s))
	}
	if m[5] != "" && align == ">" {
		align = "="
	}
	width, err := strconv.Atoi(cmp.Or(m[6], "0"))
	precision, err2 := strconv.Atoi(cmp.Or(m[8], "-1"))
	if err != nil || err2 != nil || max(width, precision) > math.MaxInt32 {
		return nil, Errorf(Value, "width or precision too large in format %q", shorten(s))
	}
	return &formatSpec{
		fill: cmp.Or(m[1], m[5], " "), align: cmp.Or(m[2], align), sign: m[3], alternate: m[4] != "",
		width: width, precision: precision, separator: m[7], letter: m[9], text: s,
	}, nil
}

func (c *Call) formatValue(v any, spec string) (string, error) {
	if spec == "" {
		return c.text(v)
	}
	align := ">"
	s, isString := v.(string)
	switch t, isTime := v.(time.Time); {
	case isTime:
		return c.strftime(t, spec)
	case isString:
		align = "<"
	case !isInt(v) && !isNumber(v):
		return "", cmp.Or[error](opaque(v), Errorf(TypeError, "%s takes no format", typeName(v)))
	}
	f, err := parseSpec(spec, align)
	if err != nil {
		return "", err
	}
	if err := c.Reserve(4 * int64(max(f.width, f.precision, 0))); err != nil {
		return "", err
	}
	if !isString {
		return f.number(v)
	}
	if f.letter != "" && f.letter != "s" || f.sign != "" || f.alternate || f.separator != "" || f.align == "=" {
		return "", f.invalid(v)
	}
	if f.precision >= 0 {
		s = runeSlice(s, 0, f.precision)
	}
	return f.pad("", s), nil
}

func (f *formatSpec) invalid(v any) error {
	return Errorf(Value, "invalid or unsupported format %q for %s", shorten(f.text), typeName(v))
}

func (f *formatSpec) number(v any) (string, error) {
	if !isInt(v) || f.letter != "" && strings.ContainsAny(f.letter, "eEfFgG%") {
		x, err := floatOf(v)
		if err != nil {
			return "", err
		}
		if f.alternate || strings.Trim(f.letter, "eEfFgGn%") != "" || f.separator != "" && f.letter == "n" {
			return "", f.invalid(v)
		}
		return f.float(x), nil
	}
	n := bigOf(v)
	verb, group := cmp.Or(strings.Trim(f.letter, "n"), "d"), 4
	switch {
	case verb == "c" && f.precision < 0 && f.sign == "" && !f.alternate && f.separator == "":
		if !n.IsInt64() || n.Int64() < 0 || n.Int64() > utf8.MaxRune {
			return "", Errorf(Value, "%s is not a character", shorten(n.String()))
		}
		return f.pad("", string(rune(n.Int64()))), nil
	case !strings.ContainsAny(verb, "dboxX") || f.precision >= 0 || f.separator != "" && f.letter == "n",
		f.separator == "," && verb != "d":
		return "", f.invalid(v)
	case verb == "d":
		group = 3
		if _, err := decimal(n); err != nil {
			return "", err
		}
	}
	prefix := f.signOf(n.Sign() < 0)
	if f.alternate && verb != "d" {
		prefix += "0" + verb
	}
	digits := fmt.Sprintf("%"+verb, new(big.Int).Abs(n))
	return f.pad(prefix, f.grouped(digits, "", group, len(prefix))), nil
}

func (f *formatSpec) signOf(negative bool) string {
	if negative {
		return "-"
	}
	return strings.Trim(f.sign, "-")
}

func (f *formatSpec) float(x float64) string {
	prefix, suffix := f.signOf(math.Signbit(x) && !math.IsNaN(x)), ""
	x = math.Abs(x)
	precision := f.precision
	if precision < 0 {
		precision = 6
	}
	if f.letter == "%" {
		x, suffix = x*100, "%"
	}
	var s string
	switch {
	case f.letter == "" && f.precision < 0 || math.IsNaN(x) || math.IsInf(x, 0):
		s = floatNotation(x, -1, 16)
	case f.letter == "":
		precision = max(precision, 1) - 1
		s = floatNotation(x, precision, precision)
	default:
		verb := strings.NewReplacer("%", "f", "n", "g").Replace(strings.ToLower(f.letter))
		s = strconv.FormatFloat(x, verb[0], precision, 64)
	}
	if f.letter == "E" || f.letter == "F" || f.letter == "G" {
		s = strings.ToUpper(s)
	}
	whole := len(s) - len(strings.TrimLeft(s, "0123456789"))
	if whole == 0 {
		return f.pad(prefix, s+suffix)
	}
	return f.pad(prefix, f.grouped(s[:whole], s[whole:]+suffix, 3, len(prefix)))
}

// grouped inserts separators into digits and appends rest. It prepends zeros to fill the width if necessary.
func (f *formatSpec) grouped(digits, rest string, group, used int) string {
	if f.separator == "" {
		return digits + rest
	}
	if f.fill == "0" && f.align == "=" {
		room := f.width - used - len(rest)
		digits = strings.Repeat("0", max(0, room-(room-1)/(group+1)-len(digits))) + digits
	}
	var b strings.Builder
	for i := range len(digits) {
		if i > 0 && (len(digits)-i)%group == 0 {
			b.WriteString(f.separator)
		}
		b.WriteByte(digits[i])
	}
	return b.String() + rest
}

func (f *formatSpec) pad(prefix, s string) string {
	n := max(0, f.width-utf8.RuneCountInString(prefix+s))
	fill := func(n int) string { return strings.Repeat(f.fill, n) }
	switch f.align {
	case "<":
		return prefix + s + fill(n)
	case "^":
		return fill(n/2) + prefix + s + fill(n-n/2)
	case "=":
		return prefix + fill(n) + s
	}
	return fill(n) + prefix + s
}
