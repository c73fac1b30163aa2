package yaql

import (
	"errors"
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
		m, err := c.scan(0, 1).next()
		if err != nil || m == nil {
			return nil, err
		}
		return c.selected(m, c.Lambda(2))
	}).Document("Returns the first match or, with a selector, what that is: $1 is the match and $2, $3 and so on its groups, with value, start and end. "+
		"Named groups have their names. Without a match, the result is null.",
		`regex('b+').search(abbc)`, `"bb"`, `regex('a(b+)').search(abbc, $2.start)`, `1`, `regex('(?P<x>b)').search(abc, $x.value)`, `"b"`),
	Method("searchAll", "regexp regex, string string, selector lambda.context=null", func(c *Call) (any, error) {
		s := c.scan(0, 1)
		return NewIterator(func() (any, bool, error) {
			m, err := s.next()
			if err != nil || m == nil {
				return nil, false, err
			}
			v, err := c.selected(m, c.Lambda(2))
			return v, true, err
		}), nil
	}).Document("Returns all matches, or what the selector is for each, as search does.", `regex('[a-c]').searchAll(axb)`, `["a", "b"]`),
	Method("split", "regexp regex, string string, maxSplit int=0", func(c *Call) (any, error) { return c.splitRegex(0, 1) }).
		Document("Returns the parts of the string between matches, and the groups of these. Zero does not limit the number of splits.",
			`regex('[,;]').split('a,b;c')`, `["a", "b", "c"]`, `regex('(,)').split('a,b')`, `["a", ",", "b"]`),
	Method("split", "string string, regexp regex, maxSplit int=0", func(c *Call) (any, error) { return c.splitRegex(1, 0) }).
		Document("Returns the parts of the string between matches, and the groups of these. Zero does not limit the number of splits.",
			`'a,b;c'.split(regex('[,;]'), 1)`, `["a", "b;c"]`),
	Method("replace", "regexp regex, string string, repl string, count int=0", func(c *Call) (any, error) { return c.replaceRegex(0, 1) }).
		Document(`Replaces matches, all unless a count is given. The replacement may use groups as \1 or \g<name>.`,
			`regex('(a)(b)').replace(abcab, '\\2\\1')`, `"bacba"`),
	Method("replace", "string string, regexp regex, repl string, count int=0", func(c *Call) (any, error) { return c.replaceRegex(1, 0) }).
		Document(`Replaces matches, all unless a count is given. The replacement may use groups as \1 or \g<name>.`,
			`abcab.replace(regex('a'), x, 1)`, `"xbcab"`),
	Method("replaceBy", "regexp regex, string string, repl lambda.context, count int=0", func(c *Call) (any, error) { return c.replaceRegexBy(0, 1) }).
		Document("Replaces matches by what a lambda returns for them, with variables as in search.",
			`regex('[a-c]').replaceBy(axb, $.value.toUpper())`, `"AxB"`),
	Method("replaceBy", "string string, regexp regex, repl lambda.context, count int=0", func(c *Call) (any, error) { return c.replaceRegexBy(1, 0) }).
		Document("Replaces matches by what a lambda returns for them, with variables as in search.",
			`axb.replaceBy(regex('[a-c]'), $.value.toUpper(), 1)`, `"Axb"`),
	Func("escapeRegex", "string string", func(c *Call) (any, error) {
		if err := c.Reserve(2 * int64(len(c.String(0)))); err != nil {
			return nil, err
		}
		var b strings.Builder
		for _, r := range c.String(0) {
			if strings.ContainsRune("()[]{}?*+-|^$\\.&~# \t\n\r\v\f", r) {
				b.WriteByte('\\')
			}
			b.WriteRune(r)
		}
		return b.String(), nil
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
	var names []string
	for _, f := range []struct {
		set  bool
		name string
	}{{r.global.ignoreCase, "re.IGNORECASE"}, {r.global.multiLine, "re.MULTILINE"}, {r.global.dotAll, "re.DOTALL"}} {
		if f.set {
			names = append(names, f.name)
		}
	}
	if names == nil {
		return ""
	}
	return ", " + strings.Join(names, "|")
}

type regexKey struct {
	source string
	flags  reFlags
}

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

// regexArg returns an argument that is a regular expression or its text.
func (c *Call) regexArg(i int) (*regex, error) {
	if r, ok := c.Arg(i).(*regex); ok {
		return r, nil
	}
	return compileRegex(c.String(i), reFlags{})
}

func (c *Call) matches(re, str int) (bool, error) {
	r, err := c.regexArg(re)
	if err != nil {
		return false, err
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
	s     string
	runes []rune
	pos   int
	// empty tells that the last match was empty: another at the same place must not be.
	empty bool
	err   error
}

func (c *Call) scan(re, str int) *scanner {
	s := &scanner{c: c, s: c.String(str)}
	if s.r, s.err = c.regexArg(re); s.err == nil {
		s.err = c.Reserve(4 * int64(utf8.RuneCountInString(s.s)))
	}
	if s.err == nil {
		s.runes = []rune(s.s)
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
func (c *Call) selected(m *regexp2.Match, selector *Lambda) (any, error) {
	if selector == nil {
		return m.String(), nil
	}
	var r *regex
	for _, a := range c.args {
		if x, ok := a.(*regex); ok {
			r = x
		}
	}
	in := New(c.outer)
	groups := make([]any, r.groups+1)
	for i := range groups {
		d := NewPlainDict()
		v, start, end := group(m, i), int64(-1), int64(-1)
		if v != nil {
			g := m.GroupByNumber(i)
			start, end = int64(g.RuneIndex), int64(g.RuneIndex+g.RuneLength)
		}
		for _, e := range []entry{{"value", v}, {"start", start}, {"end", end}} {
			if err := d.Set(e.key, e.value); err != nil {
				return nil, err
			}
		}
		groups[i] = d
		in.Set(argumentName(i), d)
	}
	for name, i := range r.names {
		in.Set(name, groups[i])
	}
	return selector.CallIn(in)
}

func (c *Call) splitRegex(re, str int) (any, error) {
	limit, err := c.Int(2)
	if err != nil {
		return nil, err
	}
	s := c.scan(re, str)
	var parts []any
	last := 0
	for n := 0; limit == 0 || n < limit; n++ {
		m, err := s.next()
		if err != nil {
			return nil, err
		}
		if m == nil {
			break
		}
		parts = append(parts, string(s.runes[last:m.RuneIndex]))
		for i := range s.r.groups {
			parts = append(parts, group(m, i+1))
		}
		last = s.pos
		if err := c.Reserve(32 * int64(len(parts))); err != nil {
			return nil, err
		}
	}
	if s.err != nil {
		return nil, s.err
	}
	return NewPlainList(append(parts, string(s.runes[last:]))), nil
}

func (c *Call) replaceRegex(re, str int) (any, error) {
	r, err := c.regexArg(re)
	if err != nil {
		return nil, err
	}
	parts, err := r.template(c.String(2))
	if err != nil {
		return nil, err
	}
	return c.substitute(re, str, func(m *regexp2.Match, b *strings.Builder) error {
		for _, p := range parts {
			s := p.text
			if p.group >= 0 {
				s, _ = group(m, p.group).(string)
			}
			if err := c.Reserve(int64(b.Len() + len(s))); err != nil {
				return err
			}
			b.WriteString(s)
		}
		return nil
	})
}

func (c *Call) replaceRegexBy(re, str int) (any, error) {
	return c.substitute(re, str, func(m *regexp2.Match, b *strings.Builder) error {
		if c.Lambda(2) == nil {
			return Errorf(TypeError, "repl of replaceBy must not be null")
		}
		v, err := c.selected(m, c.Lambda(2))
		if err != nil || v == nil {
			return err
		}
		s, ok := v.(string)
		if !ok {
			return Errorf(TypeError, "repl of replaceBy returned a %s instead of a string", typeName(v))
		}
		b.WriteString(s)
		return nil
	})
}

// substitute replaces matches, as many as the argument after the replacement tells.
func (c *Call) substitute(re, str int, write func(*regexp2.Match, *strings.Builder) error) (any, error) {
	limit, err := c.Int(3)
	if err != nil {
		return nil, err
	}
	s := c.scan(re, str)
	var b strings.Builder
	last := 0
	for n := 0; limit == 0 || n < limit; n++ {
		m, err := s.next()
		if err != nil {
			return nil, err
		}
		if m == nil {
			break
		}
		b.WriteString(string(s.runes[last:m.RuneIndex]))
		last = s.pos
		if err := write(m, &b); err != nil {
			return nil, err
		}
		if err := c.Reserve(int64(b.Len())); err != nil {
			return nil, err
		}
	}
	if s.err != nil {
		return nil, s.err
	}
	b.WriteString(string(s.runes[last:]))
	return b.String(), c.Reserve(int64(b.Len()))
}

// templatePart is text, or a group if that is not negative.
type templatePart struct {
	text  string
	group int
}

// template parses a replacement.
func (r *regex) template(s string) ([]templatePart, error) {
	var parts []templatePart
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 {
			return append(parts, templatePart{s, -1}), nil
		}
		parts = append(parts, templatePart{s[:i], -1})
		s = s[i+1:]
		if s == "" {
			return nil, Errorf(Regex, `backslash at the end of a replacement (write \\)`)
		}
		text, n, size := "", -1, 1
		digit := func(i int, last byte) bool { return i < len(s) && s[i] >= '0' && s[i] <= last }
		switch {
		case s[0] == 'g':
			end := strings.IndexByte(s, '>')
			if len(s) < 2 || s[1] != '<' || end < 3 {
				return nil, Errorf(Regex, `\g in a replacement needs a group, as in \g<1>`)
			}
			name := s[2:end]
			size = end + 1
			var err error
			if n, err = strconv.Atoi(name); err != nil || n < 0 {
				if !groupName.MatchString(name) {
					return nil, Errorf(Regex, "invalid group name %q in a replacement", shorten(name))
				}
				var known bool
				if n, known = r.names[name]; !known {
					return nil, Errorf(Index, "unknown group %q in a replacement", shorten(name))
				}
			}
		case s[0] == '0' || digit(0, '3') && digit(1, '7') && digit(2, '7'):
			for size < 3 && digit(size, '7') {
				size++
			}
			code, _ := strconv.ParseUint(s[:size], 8, 16)
			text = string(rune(code & 0xff))
		case digit(0, '9'):
			if digit(1, '9') {
				size = 2
			}
			if digit(2, '7') && digit(1, '7') && digit(0, '7') {
				return nil, Errorf(Regex, `octal escape \%s is out of range`, s[:3])
			}
			n, _ = strconv.Atoi(s[:size])
		default:
			if i := strings.IndexByte("abfnrtv\\", s[0]); i >= 0 {
				text = "\a\b\f\n\r\t\v\\"[i : i+1]
			} else if s[0]|0x20 >= 'a' && s[0]|0x20 <= 'z' {
				return nil, Errorf(Regex, `unknown escape \%c in a replacement`, s[0])
			} else {
				text, size = `\`, 0
			}
		}
		if n > r.groups {
			return nil, Errorf(Regex, "a replacement has group %d, but the regular expression has %d", n, r.groups)
		}
		parts = append(parts, templatePart{text, n})
		s = s[size:]
	}
}
