package lumigl

import (
	"strconv"
	"strings"
)

// numberEnd returns the length of the JSON number at the start of s, or 0 if there is none.
func numberEnd(s string) int {
	i := 0
	if i < len(s) && s[i] == '-' {
		i++
	}
	switch {
	case i < len(s) && s[i] == '0':
		i++
	case digits(s[i:]) > 0:
		i += digits(s[i:])
	default:
		return 0
	}
	if i < len(s) && s[i] == '.' {
		n := digits(s[i+1:])
		if n == 0 {
			return 0
		}
		i += 1 + n
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		i++
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		n := digits(s[i:])
		if n == 0 {
			return 0
		}
		i += n
	}
	return i
}

func digits(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}

// As in JavaScript, a number has an exponent if it has more than maxPlain digits before the point, or if it is less
// than 1 with at least minPlain zeros after the point.
const (
	maxPlain = 21
	minPlain = 6
)

// canonicalNumber returns the canonical form of a JSON number: without redundant zeros, and with an exponent where
// JavaScript would write one. All digits and the sign of -0 are kept. Numbers with enormous exponents are returned
// unchanged.
func canonicalNumber(s string) string {
	if isPlainInteger(s) {
		return s
	}
	sign, rest := "", s
	if rest[0] == '-' {
		sign, rest = "-", rest[1:]
	}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(rest), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return sign + "0"
	}
	var power int64
	if exponent != "" {
		var err error
		if power, err = strconv.ParseInt(exponent, 10, 62); err != nil {
			return s
		}
	}
	// The value is 0.digits * 10^point.
	point := power + int64(len(whole)) - int64(len(whole+fraction)-len(digits))
	digits = strings.TrimRight(digits, "0")
	return sign + layOut(digits, point)
}

// layOut formats the value 0.digits * 10^point.
func layOut(digits string, point int64) string {
	n := int64(len(digits))
	switch {
	case n <= point && point <= maxPlain:
		return digits + strings.Repeat("0", int(point-n))
	case 0 < point && point <= maxPlain:
		return digits[:point] + "." + digits[point:]
	case -minPlain < point && point <= 0:
		return "0." + strings.Repeat("0", int(-point)) + digits
	}
	if n > 1 {
		digits = digits[:1] + "." + digits[1:]
	}
	exponent := strconv.FormatInt(point-1, 10)
	if point > 0 {
		exponent = "+" + exponent
	}
	return digits + "e" + exponent
}

// isPlainInteger reports whether s is an integer of at most maxPlain bytes, which is canonical already.
func isPlainInteger(s string) bool {
	if len(s) > maxPlain {
		return false
	}
	n := strings.TrimPrefix(s, "-")
	return digits(n) == len(n)
}
