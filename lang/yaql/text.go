package yaql

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// asciiDigits returns s without surrounding white space and with all decimal digits converted to ASCII.
func asciiDigits(s string) (string, error) {
	if s = strings.TrimFunc(s, isSpace); len(s) > maxIntDigits {
		return "", Errorf(Value, "number of more than %d digits", maxIntDigits)
	}
	return strings.Map(func(r rune) rune {
		if r < 0x80 || !unicode.Is(unicode.Nd, r) {
			return r
		}
		// Unicode decimal digits are in runs of ten that start with zero.
		zero := r
		for unicode.Is(unicode.Nd, zero-1) {
			zero--
		}
		return '0' + (r-zero)%10
	}, s), nil
}

func shorten(s string) string {
	if len(s) > 50 {
		return s[:runeOffset(s, 40)] + "..."
	}
	return s
}

// quote returns s as a string literal that is valid in Python and in YAQL.
func quote(s string) string {
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
		case r == '\n' || r == '\r' || r == '\t':
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		case strconv.IsPrint(r):
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

// floatNotation formats x with at least one decimal place, or with an exponent if the exponent is less than -4 or at
// least limit. If precision is negative, it uses the fewest digits that represent x exactly.
func floatNotation(x float64, precision, limit int) string {
	trim := func(s string) string {
		if strings.Contains(s, ".") {
			s = strings.TrimRight(s, "0")
		}
		return strings.TrimSuffix(s, ".")
	}
	mantissa, exponent, finite := strings.Cut(strconv.FormatFloat(x, 'e', precision, 64), "e")
	if !finite {
		return strings.ToLower(strings.TrimPrefix(mantissa, "+")) // NaN or infinite
	}
	exp, _ := strconv.Atoi(exponent)
	if exp < -4 || exp >= limit {
		return trim(mantissa) + "e" + exponent
	}
	if precision >= 0 {
		precision -= exp
	}
	s := trim(strconv.FormatFloat(x, 'f', precision, 64))
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}
