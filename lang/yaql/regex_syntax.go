package yaql

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// reFlags contains the flags of a regular expression.
type reFlags struct{ ignoreCase, multiLine, dotAll, ascii bool }

// width is the minimum and maximum number of characters that a term matches.
type width struct{ min, max int }

const (
	unbounded = math.MaxInt32 // also the limit of regexp2
	maxGroups = 10_000
	reDepth   = 200
)

// term is a translated part of a regular expression.
type term struct {
	text string
	width
	fixed bool // no quantifier may follow
}

var oneWide = width{1, 1}

// reParser translates Python's re syntax to the syntax of regexp2. Where they differ, it uses equivalent constructs
// that both understand alike: groups are numbered; character classes, anchors, and all flags except ignoreCase are
// expanded.
type reParser struct {
	src    string
	pos    int
	groups int
	names  map[string]int
	widths map[int]width // of closed groups
	depth  int
	err    error // first error, which also moves pos to the end
}

// Contents of character classes. Complements contain only valid characters.
const (
	reWord     = `\p{L}\p{N}_`
	reNotWord  = "\\p{M}\\p{S}\\p{Z}\\p{C}\\p{Pd}\\p{Ps}\\p{Pe}\\p{Pi}\\p{Pf}\\p{Po}\u203f\u2040\u2054\ufe33\ufe34\ufe4d-\ufe4f\uff3f"
	reSpace    = `\x09-\x0d\x1c-\x20\x85\p{Z}`
	reNotSpace = "\\x00-\\x08\\x0e-\\x1b\\x21-\\x84\\x86-\\x9f\u00a1-\u167f\u1681-\u1fff\u200b-\u2027\u202a-\u202e\u2030-\u205e\u2060-\u2fff\u3001-\U0010ffff"
)

var (
	reClasses = map[rune]string{
		'd': `\p{Nd}`, 'D': `\P{Nd}`, 'w': reWord, 'W': reNotWord, 's': reSpace, 'S': reNotSpace,
	}
	reASCIIClasses = map[rune]string{
		'd': `0-9`, 'D': "\\x00-/:-\U0010ffff", 'w': `a-zA-Z0-9_`, 'W': "\\x00-/:-@\\[-\\^`{-\U0010ffff",
		's': `\x09-\x0d\x20`, 'S': "\\x00-\\x08\\x0e-\\x1f!-\U0010ffff",
	}
)

func (f reFlags) classes() map[rune]string {
	if f.ascii {
		return reASCIIClasses
	}
	return reClasses
}

// fail records the first error, at the current position, and stops the translation.
func (p *reParser) fail(format string, args ...any) term {
	at := utf8.RuneCountInString(p.src[:p.pos])
	return p.failWith(Errorf(Regex, "regular expression: %s at %d", fmt.Sprintf(format, args...), at))
}

func (p *reParser) failWith(err error) term {
	if p.err == nil {
		p.err = err
	}
	p.pos = len(p.src)
	return term{}
}

var (
	leadingFlags = regexp.MustCompile(`^\(\?([a-zA-Z]+)\)`)
	scopedFlags  = regexp.MustCompile(`^([a-zA-Z]*)(?:-([a-zA-Z]+))?:`)
	quantifiers  = regexp.MustCompile(`^(?:[*+?]|\{([0-9]*)(,?)([0-9]*)\})`)
	octalDigits  = regexp.MustCompile(`^[0-7]{1,3}`)
	groupName    = regexp.MustCompile(`^[\p{L}_][\p{L}\p{Nd}_]*$`)
)

var simpleQuantifiers = map[string]width{"*": {0, unbounded}, "+": {1, unbounded}, "?": {0, 1}}

// translate translates the whole regular expression.
func (p *reParser) translate(flags reFlags) (string, error) {
	for {
		m := leadingFlags.FindStringSubmatch(p.src[p.pos:])
		if m == nil {
			break
		}
		p.pos += len(m[0])
		p.set(&flags, m[1], true)
	}
	t := p.alternatives(flags)
	if p.pos < len(p.src) {
		p.fail("unbalanced )")
	}
	if flags.ignoreCase {
		t.text = "(?i:" + t.text + ")"
	}
	return t.text, p.err
}

func (p *reParser) set(flags *reFlags, letters string, on bool) {
	for _, r := range letters {
		switch {
		case r == 'i':
			flags.ignoreCase = on
		case r == 'm':
			flags.multiLine = on
		case r == 's':
			flags.dotAll = on
		case on && (r == 'a' || r == 'u'):
			flags.ascii = r == 'a'
		default:
			p.fail("unknown or unsupported flag %c", r)
		}
	}
}

func (p *reParser) take(s string) bool {
	if strings.HasPrefix(p.src[p.pos:], s) {
		p.pos += len(s)
		return true
	}
	return false
}

// rune consumes and returns a character. At the end of the text, it reports that want is missing.
func (p *reParser) rune(want string) rune {
	r, n := utf8.DecodeRuneInString(p.src[p.pos:])
	if p.pos += n; n == 0 {
		p.fail("missing %s", want)
	}
	return r
}

func (p *reParser) alternatives(flags reFlags) term {
	if p.depth++; p.depth > reDepth {
		return p.failWith(Errorf(Limit, "regular expression nested deeper than %d levels", reDepth))
	}
	t := p.sequence(flags)
	for p.take("|") {
		u := p.sequence(flags)
		t = term{text: t.text + "|" + u.text, width: width{min(t.min, u.min), max(t.max, u.max)}}
	}
	p.depth--
	return t
}

func (p *reParser) sequence(flags reFlags) term {
	var b strings.Builder
	var all width
	for p.pos < len(p.src) && p.src[p.pos] != '|' && p.src[p.pos] != ')' {
		t := p.repeated(p.atom(flags))
		b.WriteString(t.text)
		all = width{min(all.min+t.min, unbounded), min(all.max+t.max, unbounded)}
	}
	return term{text: b.String(), width: all}
}

// quantifier parses *, +, ?, or {m,n}. It returns false if there is none.
func (p *reParser) quantifier() (width, bool) {
	if p.pos == len(p.src) || strings.IndexByte("*+?{", p.src[p.pos]) < 0 {
		return width{}, false
	}
	m := quantifiers.FindStringSubmatch(p.src[p.pos:])
	if len(m) == 0 || m[0] == "{}" {
		return width{}, false
	}
	p.pos += len(m[0])
	if w, simple := simpleQuantifiers[m[0]]; simple {
		return w, true
	}
	number := func(digits string, missing int) int {
		if digits == "" {
			return missing
		}
		n, err := strconv.ParseUint(digits, 10, 32)
		if err != nil || n == math.MaxUint32 {
			p.failWith(Errorf(Value, "regular expression: number of repetitions too large"))
		}
		return int(min(n, unbounded))
	}
	w := width{min: number(m[1], 0)}
	if w.max = w.min; m[2] != "" {
		w.max = number(m[3], unbounded)
	}
	if w.max < w.min {
		p.fail("minimum of repetitions greater than the maximum")
	}
	return w, true
}

// repeated applies the quantifier that follows the term t, if any.
func (p *reParser) repeated(t term) term {
	count, ok := p.quantifier()
	switch {
	case !ok:
		return t
	case t.fixed:
		return p.fail("nothing to repeat")
	}
	text := fmt.Sprintf("%s{%d,%d}", t.text, count.min, count.max)
	switch {
	case p.take("?"):
		text += "?"
	case p.take("+"):
		text = "(?>" + text + ")"
	}
	if _, again := p.quantifier(); again {
		return p.fail("repetition of a repetition")
	}
	times := func(a, b int) int { return int(min(int64(a)*int64(b), unbounded)) }
	return term{text: text, width: width{times(t.min, count.min), times(t.max, count.max)}}
}

func literal(r rune) string {
	if r < 0x80 && !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' {
		return fmt.Sprintf(`\x%02x`, r)
	}
	return string(r)
}

// atom translates a term without its quantifier.
func (p *reParser) atom(flags reFlags) term {
	if _, ok := p.quantifier(); ok {
		return p.fail("nothing to repeat")
	}
	switch r := p.rune("term"); r {
	case '.':
		return term{text: map[bool]string{true: `[\s\S]`, false: `[^\n]`}[flags.dotAll], width: oneWide}
	case '^':
		return term{text: map[bool]string{true: `(?m:^)`, false: `\A`}[flags.multiLine], fixed: true}
	case '$':
		return term{text: map[bool]string{true: `(?m:$)`, false: `\Z`}[flags.multiLine], fixed: true}
	case '(':
		return p.group(flags)
	case '[':
		return term{text: p.class(flags), width: oneWide}
	case '\\':
		return p.escape(flags)
	default:
		return term{text: literal(r), width: oneWide}
	}
}

func (p *reParser) escape(flags reFlags) term {
	classes := flags.classes()
	word := "[" + classes['w'] + "]"
	r := p.rune("character after a backslash")
	switch {
	case classes[r] != "":
		return term{text: "[" + classes[r] + "]", width: oneWide}
	case r == 'A':
		return term{text: `\A`, fixed: true}
	case r == 'Z':
		return term{text: `\z`, fixed: true}
	case r == 'b':
		return term{text: "(?:(?<=" + word + ")(?!" + word + ")|(?<!" + word + ")(?=" + word + "))", fixed: true}
	case r == 'B':
		return term{text: "(?:(?<=" + word + ")(?=" + word + ")|(?<!" + word + ")(?!" + word +
			`)(?:(?<=[\s\S])|(?=[\s\S])))`, fixed: true}
	case r >= '1' && r <= '9' && len(octalDigits.FindString(p.src[p.pos-1:])) < 3:
		n := int(r - '0')
		if p.pos < len(p.src) && p.src[p.pos] >= '0' && p.src[p.pos] <= '9' {
			n = n*10 + int(p.rune("digit")-'0')
		}
		return p.reference(n)
	}
	return term{text: literal(p.character(r, false)), width: oneWide}
}

// reference translates a backreference. n is 0 if the group is unknown.
func (p *reParser) reference(n int) term {
	w, closed := p.widths[n]
	if !closed {
		return p.fail("reference to an unknown or open group")
	}
	return term{text: fmt.Sprintf(`\k<%d>`, n), width: w}
}

// character parses the rest of an escape sequence that starts with r and returns the character.
func (p *reParser) character(r rune, inClass bool) rune {
	if n := map[rune]int{'x': 2, 'u': 4, 'U': 8}[r]; n > 0 {
		end := min(p.pos+n, len(p.src))
		code, err := strconv.ParseUint(p.src[p.pos:end], 16, 32)
		if err != nil || end < p.pos+n || code > unicode.MaxRune {
			p.fail(`\%c needs %d hexadecimal digits`, r, n)
			return 0
		}
		p.pos = end
		return rune(code)
	}
	if r >= '0' && r <= '7' {
		digits := octalDigits.FindString(p.src[p.pos-1:])
		if code, _ := strconv.ParseUint(digits, 8, 32); code <= 0o377 && (r == '0' || len(digits) == 3 || inClass) {
			p.pos += len(digits) - 1
			return rune(code)
		}
	}
	switch i := strings.IndexRune("afnrtv", r); {
	case i >= 0:
		return rune("\a\f\n\r\t\v"[i])
	case r == 'b' && inClass:
		return '\b'
	case r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)):
		p.fail(`unknown or unsupported escape \%c`, r)
	}
	return r
}

// class translates a character class, whose opening bracket has been consumed.
func (p *reParser) class(flags reFlags) string {
	var b strings.Builder
	b.WriteByte('[')
	if p.take("^") {
		b.WriteByte('^')
	}
	// item parses a character or a class such as \d.
	item := func() (r rune, set string) {
		if r = p.rune("]"); r != '\\' {
			return r, ""
		}
		if r = p.rune("character after a backslash"); flags.classes()[r] != "" {
			return 0, flags.classes()[r]
		}
		return p.character(r, true), ""
	}
	for first := true; p.err == nil && (first || !p.take("]")); first = false {
		low, set := item()
		if rest := p.src[p.pos:]; len(rest) > 1 && rest[0] == '-' && rest[1] != ']' {
			p.pos++
			high, highSet := item()
			if set+highSet != "" || high < low {
				p.fail("invalid range in a character class")
			}
			set = literal(low) + "-" + literal(high)
		} else if set == "" {
			set = literal(low)
		}
		b.WriteString(set)
	}
	b.WriteByte(']')
	return b.String()
}

// name parses a name up to the terminator end.
func (p *reParser) name(end string) string {
	name, _, ok := strings.Cut(p.src[p.pos:], end)
	if !ok {
		p.fail("missing %s", end)
		return ""
	}
	p.pos += len(name) + len(end)
	return name
}

// group translates a group, whose opening parenthesis has been consumed.
func (p *reParser) group(flags reFlags) term {
	switch {
	case !p.take("?"):
		return p.capture("", flags)
	case p.take("P<"):
		name := p.name(">")
		if p.names[name] > 0 || !groupName.MatchString(name) {
			return p.fail("invalid or repeated group name %q", shorten(name))
		}
		return p.capture(name, flags)
	case p.take("P="):
		return p.reference(p.names[p.name(")")])
	case p.take("#"):
		p.name(")")
		return term{fixed: true}
	case p.take(":"):
		return p.enclosed("(?:", flags)
	case p.take(">"):
		return p.enclosed("(?>", flags)
	case p.take("="), p.take("!"):
		return term{text: p.enclosed("(?"+p.src[p.pos-1:p.pos], flags).text}
	case p.take("<="), p.take("<!"):
		t := p.enclosed("(?<"+p.src[p.pos-1:p.pos], flags)
		if t.min != t.max {
			return p.fail("look-behind of variable width")
		}
		return term{text: t.text}
	}
	m := scopedFlags.FindStringSubmatch(p.src[p.pos:])
	if m == nil {
		return p.fail("unknown, unsupported or incomplete group")
	}
	p.pos += len(m[0])
	p.set(&flags, m[1], true)
	p.set(&flags, m[2], false)
	return p.enclosed(map[bool]string{true: "(?i:", false: "(?-i:"}[flags.ignoreCase], flags)
}

// enclosed translates the contents of a group and its closing parenthesis. open is the translation of its start.
func (p *reParser) enclosed(open string, flags reFlags) term {
	t := p.alternatives(flags)
	if !p.take(")") {
		return p.fail("missing )")
	}
	t.text = open + t.text + ")"
	return t
}

func (p *reParser) capture(name string, flags reFlags) term {
	if p.groups++; p.groups > maxGroups {
		return p.failWith(Errorf(Limit, "regular expression of more than %d groups", maxGroups))
	}
	n := p.groups
	if name != "" {
		p.names[name] = n
	}
	t := p.enclosed(fmt.Sprintf("(?<%d>", n), flags)
	p.widths[n] = t.width
	return t
}
