package yaql

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
)

var regexFunctions = []*Function{
	Func("regex", "pattern string, ignoreCase bool?=false, multiLine bool?=false, dotAll bool?=false", func(c *Call) (any, error) {
		return compileRegex(c.String(0), reFlags{ignoreCase: c.Bool(1), multiLine: c.Bool(2), dotAll: c.Bool(3)})
	}).Document("Compiles a regular expression, in the syntax of Python.",
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
		s := c.scan()
		m, err := s.next()
		if err != nil || m == nil {
			return nil, err
		}
		return s.selected(m, c.Lambda(2))
	}).Document("Returns the first match or, with a selector, what that is: $1 is the match and $2, $3 and so on its groups, with value, start and end. "+
		"Named groups have their names. Without a match, the result is null.",
		`regex('b+').search(abbc)`, `"bb"`, `regex('a(b+)').search(abbc, $2.start)`, `1`, `regex('(?P<x>b)').search(abc, $x.value)`, `"b"`),
	Method("searchAll", "regexp regex, string string, selector lambda.context=null", func(c *Call) (any, error) {
		s := c.scan()
		return NewIterator(func() (any, bool, error) {
			m, err := s.next()
			if err != nil || m == nil {
				return nil, false, err
			}
			v, err := s.selected(m, c.Lambda(2))
			return v, true, err
		}), nil
	}).Document("Returns all matches, or what the selector is for each, as search does.", `regex('[a-c]').searchAll(axb)`, `["a", "b"]`),
	Method("split", "regexp regex, string string, maxSplit int=0", splitRegex).eitherWay().
		Document("Returns the parts of the string between matches, and the groups of these. Zero does not limit the number of splits.",
			`regex('[,;]').split('a,b;c')`, `["a", "b", "c"]`, `regex('(,)').split('a,b')`, `["a", ",", "b"]`,
			`'a,b;c'.split(regex('[,;]'), 1)`, `["a", "b;c"]`),
	Method("replace", "regexp regex, string string, repl string, count int=0", replaceRegex).eitherWay().
		Document(`Replaces matches, all unless a count is given. The replacement may use groups as \1 or \g<name>.`,
			`regex('(a)(b)').replace(abcab, '\\2\\1')`, `"bacba"`, `abcab.replace(regex('a'), x, 1)`, `"xbcab"`),
	Method("replaceBy", "regexp regex, string string, repl lambda.context, count int=0", replaceRegexBy).eitherWay().
		Document("Replaces matches by what a lambda returns for them, with variables as in search.",
			`regex('[a-c]').replaceBy(axb, $.value.toUpper())`, `"AxB"`,
			`axb.replaceBy(regex('[a-c]'), $.value.toUpper(), 1)`, `"Axb"`),
	Func("escapeRegex", "string string", func(c *Call) (any, error) {
		if err := c.Reserve(2 * int64(len(c.String(0)))); err != nil {
			return nil, err
		}
		return regexSpecial.ReplaceAllString(c.String(0), `\$0`), nil
	}).Document("Escapes what has a meaning in regular expressions.", `escapeRegex('a.b')`, `"a\\.b"`),
	Func("isRegex", "value any", value(func(c *Call) any { _, ok := c.Arg(0).(*regex); return ok })).
		Document("Returns whether the value is what regex returns.", `isRegex(regex(a))`, `true`, `isRegex(a)`, `false`),
}

func regexOperator(op, typ string, want bool) *Function {
	doc := map[bool]string{true: "matches", false: "does not match"}[want]
	return Func("#operator_"+op, "string string, regexp "+typ, func(c *Call) (any, error) {
		found, err := c.matches(1, 0)
		return found == want, err
	}).Document("Returns whether a regular expression "+doc+" anywhere in the left operand.", `'abbc' `+op+` 'b+'`, strconv.FormatBool(want))
}

// matchTimeout and matchStack limit the search for a single match: between matches, cancellation is looked at.
const (
	matchTimeout = time.Second
	matchStack   = 4 << 20
)

// regex is a compiled regular expression.
type regex struct {
	source string
	global reFlags
	re     *regexp2.Regexp
	groups int
	names  map[string]int
	// longer matches what is not empty at the start of the search only.
	longer func() (*regexp2.Regexp, error)
}

func (*regex) isRegex() {}

// YAQLType implements [Typed].
func (*regex) YAQLType() string { return "regex" }

func (r *regex) flags() string {
	s := ""
	for i, set := range []bool{r.global.ignoreCase, r.global.multiLine, r.global.dotAll} {
		if set {
			s += "|re." + []string{"IGNORECASE", "MULTILINE", "DOTALL"}[i]
		}
	}
	return strings.Replace(s, "|", ", ", 1)
}

type regexKey struct {
	source string
	flags  reFlags
}

var regexSpecial = regexp.MustCompile("[][(){}?*+|^$\\\\.&~# \t\n\r\v\f-]")

// regexes are compiled lately. They are forgotten all at once.
var regexes = struct {
	sync.Mutex
	m map[regexKey]*regex
}{m: map[regexKey]*regex{}}

const (
	maxCachedRegexes = 200
	maxRegexLength   = 64 << 10
)

func compileRegex(source string, flags reFlags) (*regex, error) {
	key := regexKey{source, flags}
	regexes.Lock()
	r := regexes.m[key]
	regexes.Unlock()
	if r != nil {
		return r, nil
	}
	if len(source) > maxRegexLength {
		return nil, Errorf(Limit, "regular expression of more than %d bytes", maxRegexLength)
	}
	p := reParser{src: source, names: map[string]int{}, widths: map[int]width{}}
	text, flags, err := p.translate(flags)
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
	r = &regex{source: source, global: flags, groups: p.groups, names: p.names}
	if r.re, err = compile(text); err != nil {
		return nil, err
	}
	r.longer = sync.OnceValues(func() (*regexp2.Regexp, error) { return compile(`\G(?:` + text + `)(?!\G)`) })
	if len(source) <= 1000 {
		regexes.Lock()
		if len(regexes.m) >= maxCachedRegexes {
			clear(regexes.m)
		}
		regexes.m[key] = r
		regexes.Unlock()
	}
	return r, nil
}

// matches reports whether an argument, a regular expression or its text, matches in another.
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

// scanner finds one match after the other.
type scanner struct {
	c     *Call
	r     *regex
	runes []rune
	pos   int
	// empty tells that the last match was empty: another at the same place must not be.
	empty bool
	err   error
}

// scan returns a scanner for the first argument in the second one.
func (c *Call) scan() *scanner {
	s := &scanner{c: c, r: c.Arg(0).(*regex)}
	if s.err = c.Reserve(4 * int64(utf8.RuneCountInString(c.String(1)))); s.err == nil {
		s.runes = []rune(c.String(1))
	}
	return s
}

func (s *scanner) next() (*regexp2.Match, error) {
	if s.err != nil {
		return nil, s.err
	}
	var m *regexp2.Match
	var err error
	from := s.pos
	if s.empty {
		re, err := s.r.longer()
		if err != nil {
			return nil, err
		}
		if m, err = re.FindRunesMatchStartingAt(s.runes, from); err != nil {
			return nil, s.c.matchError(err)
		}
		from++
	}
	if m == nil {
		if from > len(s.runes) {
			return nil, nil
		}
		m, err = s.r.re.FindRunesMatchStartingAt(s.runes, from)
	}
	if err = s.c.matchError(err); err != nil || m == nil {
		return nil, err
	}
	s.pos, s.empty = m.RuneIndex+m.RuneLength, m.RuneLength == 0
	return m, nil
}

// group returns a group of a match, or null if it took no part in it.
func group(m *regexp2.Match, i int) any {
	if g := m.GroupByNumber(i); g != nil && len(g.Captures) > 0 {
		return g.String()
	}
	return nil
}

// selected returns a match, or what a lambda is for it.
func (s *scanner) selected(m *regexp2.Match, selector *Lambda) (any, error) {
	if selector == nil {
		return m.String(), nil
	}
	in := New(s.c.outer)
	groups := make([]any, s.r.groups+1)
	for i := range groups {
		v, start, end := group(m, i), -1, -1
		if v != nil {
			g := m.GroupByNumber(i)
			start, end = g.RuneIndex, g.RuneIndex+g.RuneLength
		}
		d := NewPlainDict()
		for _, e := range []entry{{"value", v}, {"start", int64(start)}, {"end", int64(end)}} {
			if err := d.Set(e.key, e.value); err != nil {
				return nil, err
			}
		}
		groups[i] = d
		in.Set(argumentName(i), d)
	}
	for name, i := range s.r.names {
		in.Set(name, groups[i])
	}
	return selector.CallIn(in)
}

// each calls f for matches, as many as an argument allows, and the text before each. It returns the text after the last.
func (s *scanner) each(limit int, f func(before string, m *regexp2.Match) error) (string, error) {
	n, err := s.c.Int(limit)
	if err != nil {
		return "", err
	}
	last := 0
	for i := 0; n == 0 || i < n; i++ {
		m, err := s.next()
		if err != nil {
			return "", err
		}
		if m == nil {
			break
		}
		if err := f(string(s.runes[last:m.RuneIndex]), m); err != nil {
			return "", err
		}
		last = s.pos
	}
	return string(s.runes[last:]), s.err
}

func splitRegex(c *Call) (any, error) {
	var parts []any
	s := c.scan()
	rest, err := s.each(2, func(before string, m *regexp2.Match) error {
		parts = append(parts, before)
		for i := range s.r.groups {
			parts = append(parts, group(m, i+1))
		}
		return c.Reserve(32 * int64(len(parts)))
	})
	return NewPlainList(append(parts, rest)), err
}

func replaceRegex(c *Call) (any, error) {
	s := c.scan()
	if s.err != nil {
		return nil, s.err
	}
	parts, err := s.r.template(c.String(2))
	if err != nil {
		return nil, err
	}
	return s.substitute(func(m *regexp2.Match, b *strings.Builder) error {
		for _, p := range parts {
			text := p.text
			if p.group >= 0 {
				text, _ = group(m, p.group).(string)
			}
			if err := c.Reserve(int64(b.Len() + len(text))); err != nil {
				return err
			}
			b.WriteString(text)
		}
		return nil
	})
}

func replaceRegexBy(c *Call) (any, error) {
	s := c.scan()
	return s.substitute(func(m *regexp2.Match, b *strings.Builder) error {
		if c.Lambda(2) == nil {
			return Errorf(TypeError, "repl of replaceBy must not be null")
		}
		v, err := s.selected(m, c.Lambda(2))
		if err != nil || v == nil {
			return err
		}
		text, ok := v.(string)
		if !ok {
			return Errorf(TypeError, "repl of replaceBy returned a %s instead of a string", typeName(v))
		}
		b.WriteString(text)
		return nil
	})
}

// substitute replaces matches, as many as the argument after the replacement tells.
func (s *scanner) substitute(write func(*regexp2.Match, *strings.Builder) error) (any, error) {
	var b strings.Builder
	rest, err := s.each(3, func(before string, m *regexp2.Match) error {
		b.WriteString(before)
		if err := write(m, &b); err != nil {
			return err
		}
		return s.c.Reserve(int64(b.Len()))
	})
	if err != nil {
		return nil, err
	}
	return b.String() + rest, s.c.Reserve(int64(b.Len() + len(rest)))
}

// templatePart is text, or a group if that is not negative.
type templatePart struct {
	text  string
	group int
}

// templateEscape matches an escape sequence of a replacement: a group by name, octal digits, a group by number, or any
// other character.
var templateEscape = regexp.MustCompile(`(?s)\\(?:g<([^>]+)>|(0[0-7]{0,2}|[0-7]{3})|([1-9][0-9]?)|(.?))`)

// template parses a replacement.
func (r *regex) template(s string) ([]templatePart, error) {
	var parts []templatePart
	for {
		at := templateEscape.FindStringSubmatchIndex(s)
		if at == nil {
			return append(parts, templatePart{s, -1}), nil
		}
		m := templateEscape.FindStringSubmatch(s[at[0]:])
		part := templatePart{group: -1}
		var err error
		switch name, octal, number, other := m[1], m[2], m[3], m[4]; {
		case octal != "":
			var code uint64
			if code, err = strconv.ParseUint(octal, 8, 8); err != nil {
				err = Errorf(Regex, `octal escape \%s is out of range`, octal)
			}
			part.text = string(rune(code))
		case name+number != "":
			part.group, err = r.groupOf(name + number)
		case other == "":
			err = Errorf(Regex, `backslash at the end of a replacement (write \\)`)
		case other == "\\" || strings.Contains("abfnrtv", other):
			part.text = string(simpleEscapes[other[0]])
		case other[0]|0x20 >= 'a' && other[0]|0x20 <= 'z':
			err = Errorf(Regex, `unknown escape \%s in a replacement`, other)
		default:
			part.text = m[0]
		}
		if err != nil {
			return nil, err
		}
		parts = append(parts, templatePart{s[:at[0]], -1}, part)
		s = s[at[1]:]
	}
}

// groupOf returns the number of a group that a replacement names.
func (r *regex) groupOf(name string) (int, error) {
	n, err := strconv.Atoi(name)
	switch known, ok := r.names[name]; {
	case ok:
		return known, nil
	case groupName.MatchString(name):
		return 0, Errorf(Index, "unknown group %q in a replacement", shorten(name))
	case err != nil || n < 0:
		return 0, Errorf(Regex, "invalid group name %q in a replacement", shorten(name))
	case n > r.groups:
		return 0, Errorf(Regex, "a replacement has group %d, but the regular expression has %d", n, r.groups)
	}
	return n, nil
}
