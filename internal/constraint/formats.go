package constraint

import (
	"encoding/json"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// matcher reports whether a rule accepts a string.
type matcher interface{ matches(s string) bool }

// expression is a regular expression that is compiled on first use. An invalid expression matches every string.
type expression func() compiled

type compiled struct {
	automaton *automaton // nil if package regexp must be used
	re        *regexp.Regexp
}

func (e expression) matches(s string) bool {
	c := e()
	if c.automaton != nil {
		if match, decided := c.automaton.matches(s); decided {
			return match
		}
	}
	return c.re == nil || c.re.MatchString(s)
}

// expressions caches expressions by text, since properties often share a pattern.
var expressions sync.Map

func compile(text string) expression {
	if e, ok := expressions.Load(text); ok {
		return e.(expression)
	}
	e, _ := expressions.LoadOrStore(text, expression(sync.OnceValue(func() (c compiled) {
		if c.re, _ = regexp.Compile(text); c.re != nil {
			c.automaton = newAutomaton(c.re)
		}
		return c
	})))
	return e.(expression)
}

// stringFormat is a string format. Its optional expression and its optional function must both accept a string.
type stringFormat struct {
	what string // follows "must be" in messages
	expression
	also func(s string) bool
}

func (f *stringFormat) matches(s string) bool {
	return (f.expression == nil || f.expression.matches(s)) && (f.also == nil || f.also(s))
}

// formats maps the names of formats. The expressions are the same as in constraints.ts.
var formats = map[string]*stringFormat{
	"uri": {what: "a URI", expression: compile(
		`^[A-Za-z][A-Za-z0-9+.-]*:(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+$`)},
	"email": {what: "an email address", expression: compile(
		`^[A-Za-z0-9.!#$%&'*+/=?^_\x60{|}~-]+@[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?` +
			`(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$`)},
	"ipv4": {what: "an IPv4 address", also: func(s string) bool {
		addr, err := netip.ParseAddr(s)
		return err == nil && addr.Is4()
	}},
	"ipv6": {what: "an IPv6 address", also: func(s string) bool {
		addr, err := netip.ParseAddr(s)
		return err == nil && addr.Is6() && addr.Zone() == ""
	}},
	"cidr": {what: "an IP prefix such as 10.0.0.0/8", also: func(s string) bool {
		_, err := netip.ParsePrefix(s)
		return err == nil
	}},
	"date-time": {what: "a date and time such as 2006-01-02T15:04:05Z", expression: compile(
		`^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?` +
			`(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$`), also: func(s string) bool {
		_, err := time.Parse(time.DateOnly, s[:len(time.DateOnly)]) // the expression does not check the lengths of months
		return err == nil
	}},
	"duration": {what: "a duration such as PT1H30M", expression: compile(
		`^P(?:\d+W|(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?:\d+H)?(?:\d+M)?(?:\d+S)?)?)$`),
		also: func(s string) bool { return !strings.HasSuffix(s, "P") && !strings.HasSuffix(s, "T") }},
	"uuid": {what: "a UUID", expression: compile(`^[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}$`)},
	"int64": {what: "a 64-bit integer", expression: compile(`^(?:0|-?[1-9]\d{0,18})$`), also: func(s string) bool {
		_, err := strconv.ParseInt(s, 10, 64)
		return err == nil
	}},
	"uint64": {what: "an unsigned 64-bit integer", expression: compile(`^(?:0|[1-9]\d{0,19})$`), also: func(s string) bool {
		_, err := strconv.ParseUint(s, 10, 64)
		return err == nil
	}},
	"decimal": {what: "a decimal number such as 12.50", expression: compile(`^-?(?:0|[1-9]\d*)(?:\.\d+)?$`)},
	"base64": {what: "base64", expression: compile(
		`^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$`)},
	"json": {what: "JSON", also: func(s string) bool { return json.Valid([]byte(s)) }},
}

// FormatNoun returns the strings of a format in words, such as "a URI", or "" if the format is unknown.
func FormatNoun(name string) string {
	if f := formats[name]; f != nil {
		return f.what
	}
	return ""
}

// Formats returns the sorted names of all formats.
func Formats() []string { return slices.Sorted(maps.Keys(formats)) }
