package yaql

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
)

var regexFunctions = []*Function{
	Func("regex", "pattern string, ignoreCase bool?=false, multiLine bool?=false, dotAll bool?=false", func(c *Call) (any, error) {
		return compileRegex(c.String(0), reFlags{ignoreCase: c.Bool(1), multiLine: c.Bool(2), dotAll: c.Bool(3)})
	}).Document("Compiles a regular expression in Python's syntax.",
		`regex('^a.c$', ignoreCase => true).matches(ABC)`, `true`, `regex('(')`, `error: regex`),
	Method("matches", "regexp regex, string string", func(c *Call) (any, error) { return c.matches(0, 1) }).
		Document("Returns whether the expression matches anywhere in the string.", `regex('b+').matches(abbc)`, `true`),
	Method("matches", "string string, regexp string", func(c *Call) (any, error) { return c.matches(1, 0) }).
		Document("Returns whether a regular expression matches anywhere in the string.", `abbc.matches('b+')`, `true`),
	regexOperator("=~", "regex", true),
	regexOperator("=~", "string", true),
	regexOperator("!~", "regex", false),
	regexOperator("!~", "string", false),
	Method("search", "regexp regex, string string, selector lambda.context=null", func(c *Call) (any, error) {
		v, _, err := c.searchAll().Next()
		return v, err
	}).Document("Returns the first match, or null if there is none. With a selector, returns its result: "+
		"$1 is the match, and $2, $3, and so on are its groups, each with value, start, and end. Named groups "+
		"are also variables.",
		`regex('b+').search(abbc)`, `"bb"`, `regex('a(b+)').search(abbc, $2.start)`, `1`, `regex('(?P<x>b)').search(abc, $x.value)`, `"b"`),
	Method("searchAll", "regexp regex, string string, selector lambda.context=null", func(c *Call) (any, error) {
		return c.searchAll(), nil
	}).Document("Returns all matches or, with a selector, its result for each match, as in search.",
		`regex('[a-c]').searchAll(axb)`, `["a", "b"]`),
	Method("split", "regexp regex, string string, maxSplit int=0", splitRegex).eitherWay().
		Document("Returns the parts of the string between matches, interleaved with the matches' groups. A maxSplit of 0 means no limit.",
			`regex('[,;]').split('a,b;c')`, `["a", "b", "c"]`, `regex('(,)').split('a,b')`, `["a", ",", "b"]`,
			`'a,b;c'.split(regex('[,;]'), 1)`, `["a", "b;c"]`),
	Method("replace", "regexp regex, string string, repl string, count int=0", replaceRegex).eitherWay().
		Document(`Replaces the first count matches; by default, all. The replacement may use groups as \1 or \g<name>.`,
			`regex('(a)(b)').replace(abcab, '\\2\\1')`, `"bacba"`, `abcab.replace(regex('a'), x, 1)`, `"xbcab"`),
	Method("replaceBy", "regexp regex, string string, repl lambda.context, count int=0", replaceRegexBy).eitherWay().
		Document("Replaces matches with the results of a lambda, with the same variables as in search.",
			`regex('[a-c]').replaceBy(axb, $.value.toUpper())`, `"AxB"`,
			`axb.replaceBy(regex('[a-c]'), $.value.toUpper(), 1)`, `"Axb"`),
	Func("escapeRegex", "string string", value(func(c *Call) any {
		return regexSpecial.ReplaceAllString(c.String(0), `\$0`)
	})).Document("Escapes the special characters of regular expressions.", `escapeRegex('a.b')`, `"a\\.b"`),
	Func("isRegex", "value any", value(func(c *Call) any { _, ok := c.Arg(0).(*regex); return ok })).
		Document("Returns whether the value is a regular expression.", `isRegex(regex(a))`, `true`, `isRegex(a)`, `false`),
}

func regexOperator(op, typ string, want bool) *Function {
	doc := map[bool]string{true: "matches", false: "does not match"}[want]
	return Func("#operator_"+op, "string string, regexp "+typ, func(c *Call) (any, error) {
		found, err := c.matches(1, 0)
		return found == want, err
	}).Document("Returns whether a regular expression "+doc+" anywhere in the left operand.", `'abbc' `+op+` 'b+'`, strconv.FormatBool(want))
}

const (
	// matchTimeout and matchStack limit a single match. Cancellation is checked between matches.
	matchTimeout     = time.Second
	matchStack       = 4 << 20
	maxCachedRegexes = 200
	maxRegexLength   = 64 << 10
)

// YAQLType implements [Typed].
func (*regex) YAQLType() string { return "regex" }

var regexSpecial = regexp.MustCompile("[][(){}?*+|^$\\\\.&~# \t\n\r\v\f-]")

// regexes caches compiled regular expressions by source and flags. It is cleared entirely when it is full.
var (
	regexes       sync.Map
	cachedRegexes atomic.Int64
)

func compileRegex(source string, flags reFlags) (*regex, error) {
	key := [2]any{source, flags}
	if r, ok := regexes.Load(key); ok {
		return r.(*regex), nil
	}
	if len(source) > maxRegexLength {
		return nil, Errorf(Limit, "regular expression of more than %d bytes", maxRegexLength)
	}
	p := reParser{src: source, names: map[string]int{}, widths: map[int]width{}}
	text, err := p.translate(flags)
	if err != nil {
		return nil, err
	}
	compile := func(text string) (*regexp2.Regexp, error) {
		re, err := regexp2.Compile(text, regexp2.OptionMaxBacktrackingStackSize(matchStack))
		if err != nil {
			return nil, Errorf(Regex, "unsupported regular expression %q: %v", shorten(source), err)
		}
		re.MatchTimeout = matchTimeout
		return re, nil
	}
	r := &regex{groups: p.groups, names: p.names}
	if r.re, err = compile(text); err != nil {
		return nil, err
	}
	r.longer = sync.OnceValues(func() (*regexp2.Regexp, error) { return compile(`\G(?:` + text + `)(?!\G)`) })
	if len(source) <= 1000 {
		if cachedRegexes.Add(1)%maxCachedRegexes == 0 {
			regexes.Clear()
		}
		regexes.Store(key, r)
	}
	return r, nil
}

// matches reports whether the argument with index re, a regular expression or its source, matches the argument with
// index str.
func (c *Call) matches(re, str int) (bool, error) {
	r, ok := c.Arg(re).(*regex)
	if !ok {
		var err error
		if r, err = compileRegex(c.String(re), reFlags{}); err != nil {
			return false, err
		}
	}
	found, err := r.re.MatchString(c.String(str))
	return found, c.matchError(err)
}

func (c *Call) matchError(err error) error {
	if ctxErr := c.Ctx().Err(); ctxErr != nil {
		return ctxErr
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, regexp2.ErrBacktrackingStackLimit):
		return Errorf(Limit, "regular expression needs more than %d backtracking steps at once", matchStack)
	}
	return Errorf(Limit, "regular expression took more than %v to match", matchTimeout)
}

// scan returns an iterator over the matches of the first argument in the second.
func (c *Call) scan() *Iterator {
	r, pos, empty := c.Arg(0).(*regex), 0, false
	runes, failed := []rune(nil), c.Reserve(4*int64(utf8.RuneCountInString(c.String(1))))
	if failed == nil {
		runes = []rune(c.String(1))
	}
	find := func(re *regexp2.Regexp) (*regexp2.Match, error) {
		m, err := re.FindRunesMatchStartingAt(runes, pos)
		return m, c.matchError(err)
	}
	return NewIterator(func() (any, bool, error) {
		var m *regexp2.Match
		err := failed
		if empty { // two empty matches must not have the same position
			var longer *regexp2.Regexp
			if longer, err = r.longer(); err == nil {
				m, err = find(longer)
			}
			if m == nil {
				pos++
			}
		}
		if err == nil && m == nil && pos <= len(runes) {
			m, err = find(r.re)
		}
		if err != nil || m == nil {
			return nil, false, err
		}
		pos, empty = m.RuneIndex+m.RuneLength, m.RuneLength == 0
		return m, true, nil
	})
}

// group returns the text of a group and its position. If the group did not participate in the match, v is nil.
func group(m *regexp2.Match, i int) (v any, start, end int64) {
	if g := m.GroupByNumber(i); g != nil && len(g.Captures) > 0 {
		return g.String(), int64(g.RuneIndex), int64(g.RuneIndex + g.RuneLength)
	}
	return nil, -1, -1
}

// searchAll returns an iterator over the matches or, if there is a lambda, over its results for the matches.
func (c *Call) searchAll() *Iterator {
	return c.sift(c.scan(), func(m any) (any, bool, error) {
		if c.Lambda(2) == nil {
			return m.(*regexp2.Match).String(), true, nil
		}
		v, err := c.selected(m.(*regexp2.Match))
		return v, true, err
	})
}

// selected returns the result of the lambda in the third argument for a match.
func (c *Call) selected(m *regexp2.Match) (any, error) {
	in, r := New(c.outer), c.Arg(0).(*regex)
	for i := range r.groups + 1 {
		v, start, end := group(m, i)
		d, err := NewPlainDict().with([]entry{{"value", v}, {"start", start}, {"end", end}})
		if err != nil {
			return nil, err
		}
		in.Set(argumentName(i), d)
	}
	for name, i := range r.names {
		in.Set(name, in.Get(argumentName(i)))
	}
	return c.Lambda(2).CallIn(in)
}

// eachMatch calls f for each match and the text before it. The argument with index limit is the maximum number of
// matches. eachMatch returns the text after the last match.
func (c *Call) eachMatch(limit int, f func(before string, m *regexp2.Match) error) (string, error) {
	n, err := c.Int(limit)
	if err != nil {
		return "", err
	}
	it, rest, pos := c.scan(), c.String(1), 0
	if n != 0 {
		it = take(it, n)
	}
	err = c.each(it, func(v any) (bool, error) {
		m := v.(*regexp2.Match)
		at := runeOffset(rest, m.RuneIndex-pos)
		before := rest[:at]
		rest = rest[at:]
		rest = rest[runeOffset(rest, m.RuneLength):]
		pos = m.RuneIndex + m.RuneLength
		return true, f(before, m)
	})
	return rest, err
}

func splitRegex(c *Call) (any, error) {
	var parts []any
	rest, err := c.eachMatch(2, func(before string, m *regexp2.Match) error {
		parts = append(parts, before)
		for i := range c.Arg(0).(*regex).groups {
			v, _, _ := group(m, i+1)
			parts = append(parts, v)
		}
		return c.Reserve(32 * int64(len(parts)))
	})
	return NewPlainList(append(parts, rest)), err
}

func replaceRegex(c *Call) (any, error) {
	parts, err := c.Arg(0).(*regex).template(c.String(2))
	if err != nil {
		return nil, err
	}
	return c.substitute(func(m *regexp2.Match) (string, error) {
		var b strings.Builder
		for _, part := range parts {
			if i, ok := part.(int); ok {
				part, _, _ = group(m, i)
			}
			text, _ := part.(string)
			if err := c.Reserve(int64(b.Len() + len(text))); err != nil {
				return "", err
			}
			b.WriteString(text)
		}
		return b.String(), nil
	})
}

func replaceRegexBy(c *Call) (any, error) {
	return c.substitute(func(m *regexp2.Match) (string, error) {
		v, err := c.selected(m)
		text, ok := v.(string)
		if err == nil && v != nil && !ok {
			err = Errorf(TypeError, "repl of replaceBy must return a string, got %s", typeName(v))
		}
		return text, err
	})
}

// substitute returns the text with matches replaced. The argument after the replacement is the maximum number of
// replacements.
func (c *Call) substitute(replacement func(*regexp2.Match) (string, error)) (any, error) {
	var b strings.Builder
	rest, err := c.eachMatch(3, func(before string, m *regexp2.Match) error {
		text, err := replacement(m)
		if err == nil {
			err = c.Reserve(int64(b.Len() + len(before) + len(text)))
		}
		b.WriteString(before)
		b.WriteString(text)
		return err
	})
	b.WriteString(rest)
	return b.String(), err
}

// templateEscape matches an escape sequence in a replacement: a group by name, octal digits, a group by number, or any
// other character.
var templateEscape = regexp.MustCompile(`(?s)\\(?:g<([^>]+)>|(0[0-7]{0,2}|[0-7]{3})|([1-9][0-9]?)|(.?))`)

// template parses a replacement into strings and group numbers.
func (r *regex) template(s string) (parts []any, err error) {
	for {
		m := templateEscape.FindStringSubmatch(s)
		if m == nil {
			return append(parts, s), nil
		}
		before, after, _ := strings.Cut(s, m[0])
		var part any = m[0]
		switch name, octal, number, other := m[1], m[2], m[3], m[4]; {
		case name+number != "":
			if part, err = r.groupOf(name + number); err != nil {
				return nil, err
			}
		case octal != "" && octal <= "377":
			code, _ := strconv.ParseUint(octal, 8, 8)
			part = string(rune(code))
		case strings.ContainsAny(other, `abfnrtv\`):
			part = string(simpleEscapes[other[0]])
		case other == "", other[0]|0x20 >= 'a' && other[0]|0x20 <= 'z':
			return nil, Errorf(Regex, `invalid escape %s in a replacement`, m[0])
		}
		parts = append(parts, before, part)
		s = after
	}
}

// groupOf returns the number of a group that a replacement refers to by name.
func (r *regex) groupOf(name string) (int, error) {
	n, err := strconv.Atoi(name)
	switch known, ok := r.names[name]; {
	case ok:
		return known, nil
	case groupName.MatchString(name):
		err = Errorf(Index, "unknown group %q in a replacement", shorten(name))
	case err != nil || n < 0 || n > r.groups:
		err = Errorf(Regex, "invalid group %q in a replacement: the regular expression has %d", shorten(name), r.groups)
	}
	return n, err
}
