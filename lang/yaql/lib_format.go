package yaql

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// text returns v as the reference's str does.
func (c *Call) text(v any) (string, error) {
	if s, ok := v.(string); ok {
		return s, nil
	}
	w := writer{c: c}
	err := w.value(v, false)
	return w.b.String(), err
}

// writer writes values in Python's notation.
type writer struct {
	c *Call
	b strings.Builder
}

func (w *writer) value(v any, nested bool) error {
	if err := w.c.Reserve(int64(w.b.Len())); err != nil {
		return err
	}
	switch v := v.(type) {
	case nil:
		w.b.WriteString("None")
	case bool:
		w.b.WriteString(map[bool]string{true: "True", false: "False"}[v])
	case int64:
		w.b.WriteString(strconv.FormatInt(v, 10))
	case *big.Int:
		s, err := decimal(v)
		w.b.WriteString(s)
		return err
	case float64:
		w.b.WriteString(floatText64(v))
	case string:
		w.b.WriteString(pythonQuote(v, false))
	case *List:
		return w.items(map[bool]string{true: "[", false: "("}[v.mutable], v.items, map[bool]string{true: "]", false: ")"}[v.mutable])
	case *Set:
		if len(v.items) == 0 {
			w.b.WriteString("frozenset()")
			return nil
		}
		return w.items("frozenset({", v.items, "})")
	case *Dict:
		w.b.WriteByte('{')
		for i, e := range v.entries {
			if i > 0 {
				w.b.WriteString(", ")
			}
			if err := w.value(e.key, true); err != nil {
				return err
			}
			w.b.WriteString(": ")
			if err := w.value(e.value, true); err != nil {
				return err
			}
		}
		w.b.WriteByte('}')
	case time.Time:
		w.b.WriteString(timeText(v, nested))
	case TimeSpan:
		w.b.WriteString(spanText(v, nested))
	case *regex:
		w.b.WriteString("re.compile(" + pythonQuote(v.source, false) + v.flags() + ")")
	default:
		w.b.WriteString("<" + typeName(v) + ">")
	}
	return w.c.Tick()
}

func (w *writer) items(open string, items []any, closing string) error {
	w.b.WriteString(open)
	for i, x := range items {
		if i > 0 {
			w.b.WriteString(", ")
		}
		if err := w.value(x, true); err != nil {
			return err
		}
	}
	if open == "(" && len(items) == 1 {
		w.b.WriteByte(',')
	}
	w.b.WriteString(closing)
	return nil
}

func decimal(n *big.Int) (string, error) {
	s := n.String()
	if len(strings.TrimPrefix(s, "-")) > maxTextDigits {
		return "", Errorf(Value, "integer of more than %d digits", maxTextDigits)
	}
	return s, nil
}

// floatText64 returns the shortest text that reads back as x.
func floatText64(x float64) string {
	switch {
	case math.IsNaN(x):
		return "nan"
	case math.IsInf(x, 0):
		return map[bool]string{true: "inf", false: "-inf"}[x > 0]
	}
	s := strconv.FormatFloat(x, 'e', -1, 64)
	exp, _ := strconv.Atoi(s[strings.IndexByte(s, 'e')+1:])
	if exp >= -4 && exp < 16 {
		if s = strconv.FormatFloat(x, 'f', -1, 64); !strings.Contains(s, ".") {
			s += ".0"
		}
	}
	return s
}

// pythonQuote returns a string literal of Python.
func pythonQuote(s string, ascii bool) string {
	q := '\''
	if strings.ContainsRune(s, q) && !strings.Contains(s, `"`) {
		q = '"'
	}
	var b strings.Builder
	b.WriteRune(q)
	for _, r := range s {
		switch {
		case r == q || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case strconv.IsPrint(r) && (r < 0x7f || !ascii):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteRune(q)
	return b.String()
}

func formatString(c *Call) (any, error) {
	f := formatter{c: c}
	return f.format(c.String(0), 2)
}

// formatter replaces the fields of a template.
type formatter struct {
	c *Call
	// next is the number of the next field {}; numbered tells that a field with a number was seen.
	next     int
	numbered bool
}

func (f *formatter) format(s string, depth int) (string, error) {
	if depth == 0 {
		return "", Errorf(Value, "fields nested too deep in format")
	}
	var b strings.Builder
	for {
		i := strings.IndexAny(s, "{}")
		if i < 0 {
			b.WriteString(s)
			return b.String(), nil
		}
		b.WriteString(s[:i])
		brace := s[i]
		s = s[i+1:]
		if s != "" && s[0] == brace {
			b.WriteByte(brace)
			s = s[1:]
			continue
		}
		end := -1
		if brace == '{' {
			end = fieldEnd(s)
		}
		if end < 0 {
			return "", Errorf(Value, "single %c in format", brace)
		}
		text, err := f.field(s[:end], depth)
		if err != nil {
			return "", err
		}
		if err := f.c.Reserve(int64(b.Len() + len(text))); err != nil {
			return "", err
		}
		b.WriteString(text)
		s = s[end+1:]
	}
}

// fieldEnd returns where the brace is that closes a field.
func fieldEnd(s string) int {
	open, bracket := 1, false
	for i := range len(s) {
		switch {
		case s[i] == '[':
			bracket = true
		case s[i] == ']':
			bracket = false
		case bracket:
		case s[i] == '{':
			open++
		case s[i] == '}':
			if open--; open == 0 {
				return i
			}
		}
	}
	return -1
}

func (f *formatter) field(s string, depth int) (string, error) {
	name, spec, conversion := s, "", byte(0)
	bracket := false
	for i := range len(s) {
		switch s[i] {
		case '[':
			bracket = true
		case ']':
			bracket = false
		}
		if bracket || s[i] != ':' && s[i] != '!' {
			continue
		}
		name, spec = s[:i], s[i+1:]
		if s[i] == '!' {
			if spec == "" || len(spec) > 1 && spec[1] != ':' {
				return "", Errorf(Value, "invalid conversion in field {%s}", shorten(s))
			}
			conversion, spec = spec[0], strings.TrimPrefix(spec[1:], ":")
		}
		break
	}
	if strings.Contains(name, "{") {
		return "", Errorf(Value, "unexpected { in the name of a field")
	}
	v, err := f.lookup(name)
	if err != nil {
		return "", err
	}
	switch conversion {
	case 0:
	case 's':
		v, err = f.c.text(v)
	case 'r', 'a':
		w := writer{c: f.c}
		err = w.value(v, true)
		v = w.b.String()
		if conversion == 'a' {
			v = asciiOnly(w.b.String())
		}
	default:
		return "", Errorf(Value, "unknown conversion %q", conversion)
	}
	if err != nil {
		return "", err
	}
	if strings.ContainsAny(spec, "{}") {
		if spec, err = f.format(spec, depth-1); err != nil {
			return "", err
		}
	}
	return f.c.formatValue(v, spec)
}

func asciiOnly(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r < 0x80:
			b.WriteRune(r)
		default:
			q := pythonQuote(string(r), true)
			b.WriteString(q[1 : len(q)-1])
		}
	}
	return b.String()
}

func (f *formatter) lookup(name string) (any, error) {
	first, rest := name, ""
	if i := strings.IndexAny(name, ".["); i >= 0 {
		first, rest = name[:i], name[i:]
	}
	var v any
	n, err := strconv.Atoi(first)
	switch {
	case first == "" || err == nil && n >= 0 && first[0] != '+':
		if auto := first == ""; auto {
			n = f.next
			f.next++
		} else {
			f.numbered = true
		}
		if f.numbered && f.next > 0 {
			return nil, Errorf(Value, "format mixes numbered fields and fields without numbers")
		}
		if n >= len(f.c.rest) {
			return nil, Errorf(Index, "format has no argument %d", n)
		}
		v = f.c.rest[n]
	default:
		found := false
		for name, x := range f.c.Others {
			if name == first {
				v, found = x, true
			}
		}
		if !found {
			return nil, Errorf(Key, "format has no argument %s", shorten(first))
		}
	}
	for rest != "" {
		if rest[0] != '[' {
			return nil, Errorf(TypeError, "format cannot reach attributes of values, as in {%s}", shorten(name))
		}
		end := strings.IndexByte(rest, ']')
		if end < 0 || end == 1 || end+1 < len(rest) && rest[end+1] != '[' && rest[end+1] != '.' {
			return nil, Errorf(Value, "invalid index in field {%s}", shorten(name))
		}
		if v, err = f.c.part(v, rest[1:end]); err != nil {
			return nil, err
		}
		rest = rest[end+1:]
	}
	return v, nil
}

// part returns the value of a key or an item.
func (c *Call) part(v any, index string) (any, error) {
	var key any = index
	if intText.MatchString(index) && index[0] >= '0' && index[0] <= '9' && !strings.Contains(index, "_") {
		n, err := strconv.ParseInt(index, 10, 64)
		if err != nil {
			return nil, Errorf(Value, "index %s is out of range", shorten(index))
		}
		key = n
	}
	n, isIndex := key.(int64)
	switch v := v.(type) {
	case *Dict:
		return fetch(v, key)
	case *List:
		if isIndex {
			item, _, err := c.item(v, n)
			return item, err
		}
	case string:
		if isIndex {
			if s := runeSlice(v, int(min(n, math.MaxInt32)), int(min(n, math.MaxInt32))+1); s != "" {
				return s, nil
			}
			return nil, Errorf(Index, "index %d is out of range", n)
		}
	}
	return nil, Errorf(TypeError, "a %s has no part %s", typeName(v), shorten(index))
}

// item is index where that name is taken.
func (c *Call) item(l *List, n int64) (any, bool, error) { return index(c.ev, l, n) }

// formatSpec is what follows the colon in a field.
type formatSpec struct {
	fill              rune
	align, sign       byte
	alternate         bool
	width, precision  int
	separator, letter byte
}

func parseSpec(s string) (f formatSpec, err error) {
	f = formatSpec{fill: ' ', precision: -1}
	if r, n := utf8.DecodeRuneInString(s); len(s) > n && strings.IndexByte("<>=^", s[n]) >= 0 {
		f.fill, f.align, s = r, s[n], s[n+1:]
	} else if s != "" && strings.IndexByte("<>=^", s[0]) >= 0 {
		f.align, s = s[0], s[1:]
	}
	take := func(any string) (b byte) {
		if s != "" && strings.IndexByte(any, s[0]) >= 0 {
			b, s = s[0], s[1:]
		}
		return b
	}
	number := func() (int, error) {
		i := 0
		for i < len(s) && s[i] >= '0' && s[i] <= '9' {
			i++
		}
		digits := s[:i]
		s = s[i:]
		if digits == "" {
			return -1, nil
		}
		n, err := strconv.Atoi(digits)
		if err != nil {
			return 0, Errorf(Value, "too many digits in format")
		}
		return n, nil
	}
	f.sign = take("+- ")
	f.alternate = take("#") != 0
	if strings.HasPrefix(s, "0") && f.align == 0 {
		f.fill, f.align = '0', '='
	}
	if f.width, err = number(); err != nil {
		return f, err
	}
	f.separator = take(",_")
	if take(".") != 0 {
		if f.precision, err = number(); err != nil {
			return f, err
		}
		if f.precision < 0 || f.precision > math.MaxInt32 {
			return f, Errorf(Value, "invalid precision in format")
		}
	}
	if s != "" {
		f.letter = s[0]
		if len(s) > 1 {
			return f, Errorf(Value, "invalid format %q", shorten(s))
		}
	}
	return f, nil
}

func (c *Call) formatValue(v any, spec string) (string, error) {
	if t, ok := v.(time.Time); ok && spec != "" {
		return c.strftime(t, spec)
	}
	if spec == "" {
		return c.text(v)
	}
	if _, isString := v.(string); !isString && !isNumber(v) && classOf(v) != clBool {
		return "", Errorf(TypeError, "a %s takes no format", typeName(v))
	}
	f, err := parseSpec(spec)
	if err != nil {
		return "", err
	}
	if err := c.Reserve(4 * int64(max(f.width, f.precision, 0))); err != nil {
		return "", err
	}
	if s, ok := v.(string); ok {
		zero := f.align == '=' && f.fill == '0' && !strings.Contains(spec, "=")
		if f.letter != 0 && f.letter != 's' || f.sign != 0 || f.alternate || f.separator != 0 || f.align == '=' && !zero {
			return "", Errorf(Value, "invalid format %q for a string", shorten(spec))
		}
		if f.precision >= 0 {
			s = runeSlice(s, 0, f.precision)
		}
		if f.align == 0 || zero {
			f.align = '<'
		}
		return f.pad("", s), nil
	}
	return f.number(v)
}

func (f *formatSpec) number(v any) (string, error) {
	invalid := func() (string, error) {
		return "", Errorf(Value, "invalid format %c for a %s", max(f.letter, ' '), typeName(v))
	}
	if f.align == 0 {
		f.align = '>'
	}
	if !isInt(v) || f.letter != 0 && strings.IndexByte("eEfFgG%", f.letter) >= 0 {
		x, err := floatOf(v)
		if err != nil {
			return "", err
		}
		if f.letter != 0 && strings.IndexByte("eEfFgGn%", f.letter) < 0 {
			return invalid()
		}
		return f.float(x), nil
	}
	n := bigOf(v)
	base := map[byte]int{0: 10, 'd': 10, 'n': 10, 'b': 2, 'o': 8, 'x': 16, 'X': 16}[f.letter]
	switch {
	case f.precision >= 0:
		return invalid()
	case f.letter == 'c':
		if f.sign != 0 || f.alternate || f.separator != 0 {
			return invalid()
		}
		if !n.IsInt64() || n.Int64() < 0 || n.Int64() > utf8.MaxRune {
			return "", Errorf(Value, "%s is not a character", shorten(n.String()))
		}
		return f.pad("", string(rune(n.Int64()))), nil
	case base == 0 || f.separator != 0 && f.letter == 'n' || f.separator == ',' && base != 10:
		return invalid()
	}
	digits := new(big.Int).Abs(n).Text(base)
	if base == 10 && len(digits) > maxTextDigits {
		return "", Errorf(Value, "integer of more than %d digits", maxTextDigits)
	}
	prefix := f.signOf(n.Sign() < 0)
	if f.alternate && base != 10 {
		prefix += "0" + string(f.letter)
	}
	if f.letter == 'X' {
		digits = strings.ToUpper(digits)
	}
	group := 3
	if base != 10 {
		group = 4
	}
	return f.pad(prefix, f.grouped(digits, "", group, len(prefix))), nil
}

func (f *formatSpec) signOf(negative bool) string {
	switch {
	case negative:
		return "-"
	case f.sign == '+' || f.sign == ' ':
		return string(f.sign)
	}
	return ""
}

func (f *formatSpec) float(x float64) string {
	prefix, suffix := f.signOf(math.Signbit(x) && !math.IsNaN(x)), ""
	x = math.Abs(x)
	letter, precision := f.letter, f.precision
	if precision < 0 {
		precision = 6
	}
	var s string
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		s = floatText64(x)
		if letter == '%' {
			suffix = "%"
		}
	case letter == 0 && f.precision < 0:
		s = floatText64(x)
	case letter == '%':
		s, suffix = strconv.FormatFloat(x*100, 'f', precision, 64), "%"
	case letter == 'f' || letter == 'F':
		s = strconv.FormatFloat(x, 'f', precision, 64)
	case letter == 'e' || letter == 'E':
		s = strconv.FormatFloat(x, 'e', precision, 64)
	default:
		s = strconv.FormatFloat(x, 'g', max(precision, 1), 64)
		if letter == 0 && !strings.ContainsAny(s, ".e") {
			if s += ".0"; len(s)-2 >= max(precision, 1) {
				s = trimZeros(strconv.FormatFloat(x, 'e', max(precision, 1)-1, 64))
			}
		}
	}
	if f.alternate && !strings.ContainsAny(s, ".ni") {
		if i := strings.IndexByte(s, 'e'); i >= 0 {
			s = s[:i] + "." + s[i:]
		} else {
			s += "."
		}
	}
	if letter == 'E' || letter == 'F' || letter == 'G' {
		s = strings.ToUpper(s)
	}
	whole := len(s)
	if i := strings.IndexAny(s, ".eE"); i >= 0 {
		whole = i
	}
	if s[0] < '0' || s[0] > '9' {
		return f.pad(prefix, s+suffix)
	}
	return f.pad(prefix, f.grouped(s[:whole], s[whole:]+suffix, 3, len(prefix)))
}

// trimZeros removes the zeros at the end of a mantissa.
func trimZeros(s string) string {
	i := strings.IndexByte(s, 'e')
	mantissa := s[:i]
	if strings.Contains(mantissa, ".") {
		mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
	}
	return mantissa + s[i:]
}

// grouped inserts separators into digits, and zeros before them as far as the width asks for that.
func (f *formatSpec) grouped(digits, rest string, group, used int) string {
	if f.separator == 0 {
		return digits + rest
	}
	if f.fill == '0' && f.align == '=' {
		room := f.width - used - len(rest)
		for len(digits)+(len(digits)-1)/group < room {
			digits = strings.Repeat("0", max(1, (room-len(digits))/2)) + digits
			for len(digits)+(len(digits)-1)/group > room && digits[0] == '0' && len(digits)-1+(len(digits)-2)/group >= room {
				digits = digits[1:]
			}
		}
	}
	var b strings.Builder
	for i := range len(digits) {
		if i > 0 && (len(digits)-i)%group == 0 {
			b.WriteByte(f.separator)
		}
		b.WriteByte(digits[i])
	}
	return b.String() + rest
}

func (f *formatSpec) pad(prefix, s string) string {
	n := f.width - utf8.RuneCountInString(prefix) - utf8.RuneCountInString(s)
	if n <= 0 {
		return prefix + s
	}
	fill := func(n int) string { return strings.Repeat(string(f.fill), n) }
	switch f.align {
	case '<':
		return prefix + s + fill(n)
	case '^':
		return fill(n/2) + prefix + s + fill(n-n/2)
	case '=':
		return prefix + fill(n) + s
	}
	return fill(n) + prefix + s
}
