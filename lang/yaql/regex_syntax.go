package yaql

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// reFlags are the flags of a regular expression.
type reFlags struct{ ignoreCase, multiLine, dotAll, verbose, ascii bool }

// width is how many characters something matches.
type width struct{ min, max int }

const (
	unbounded = math.MaxInt32
	maxGroups = 10_000
	reDepth   = 200
)

// reParser translates the syntax of Python's re to that of regexp2. It writes what differs in terms that mean the same
// in both: groups by number, and character classes, anchors and flags other than ignoreCase spelled out.
type reParser struct {
	src    []rune
	pos    int
	groups int
	names  map[string]int
	widths map[int]width // of groups that are closed
	depth  int
}

// The contents of character classes. Those of the complements leave out what is not a character.
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

func reError(format string, args ...any) error {
	return Errorf(Regex, "regular expression: "+format, args...)
}

// translate returns the translation and the flags of the whole.
func (p *reParser) translate(flags reFlags) (string, reFlags, error) {
	if err := p.globalFlags(&flags); err != nil {
		return "", flags, err
	}
	text, _, err := p.alternatives(flags)
	if err == nil && p.pos < len(p.src) {
		err = reError("unbalanced ) at %d", p.pos)
	}
	if flags.ignoreCase {
		text = "(?i:" + text + ")"
	}
	return text, flags, err
}

// globalFlags reads (?ims) at the start.
func (p *reParser) globalFlags(flags *reFlags) error {
	for p.has("(?") {
		end := p.pos + 2
		for end < len(p.src) && strings.ContainsRune("aiLmsux", p.src[end]) {
			end++
		}
		if end == p.pos+2 || end == len(p.src) || p.src[end] != ')' {
			return nil
		}
		for _, r := range p.src[p.pos+2 : end] {
			if err := flags.set(r, true); err != nil {
				return err
			}
		}
		p.pos = end + 1
	}
	return nil
}

func (f *reFlags) set(r rune, on bool) error {
	switch r {
	case 'i':
		f.ignoreCase = on
	case 'm':
		f.multiLine = on
	case 's':
		f.dotAll = on
	case 'x':
		f.verbose = on
	case 'a':
		f.ascii = true
	case 'u':
		f.ascii = false
	default:
		return reError("unknown flag %c", r)
	}
	return nil
}

func (p *reParser) has(s string) bool {
	return strings.HasPrefix(string(p.src[p.pos:min(p.pos+len(s), len(p.src))]), s)
}

func (p *reParser) take(s string) bool {
	if p.has(s) {
		p.pos += len([]rune(s))
		return true
	}
	return false
}

func (p *reParser) alternatives(flags reFlags) (string, width, error) {
	var b strings.Builder
	all := width{unbounded, 0}
	if p.depth++; p.depth > reDepth {
		return "", all, Errorf(Limit, "regular expression nested deeper than %d levels", reDepth)
	}
	defer func() { p.depth-- }()
	for {
		text, w, err := p.sequence(flags)
		if err != nil {
			return "", w, err
		}
		b.WriteString(text)
		all = width{min(all.min, w.min), max(all.max, w.max)}
		if !p.take("|") {
			return b.String(), all, nil
		}
		b.WriteByte('|')
	}
}

func (p *reParser) sequence(flags reFlags) (string, width, error) {
	var b strings.Builder
	var all width
	for p.pos < len(p.src) && p.src[p.pos] != '|' && p.src[p.pos] != ')' {
		if flags.verbose && p.skipSpace() {
			continue
		}
		text, w, repeatable, err := p.atom(flags)
		if err != nil {
			return "", w, err
		}
		if flags.verbose {
			for p.skipSpace() {
			}
		}
		if text, w, err = p.repeated(text, w, repeatable); err != nil {
			return "", w, err
		}
		b.WriteString(text)
		all = width{min(all.min+w.min, unbounded), min(all.max+w.max, unbounded)}
	}
	return b.String(), all, nil
}

// skipSpace skips white space or a comment of a verbose expression.
func (p *reParser) skipSpace() bool {
	if p.pos == len(p.src) || !strings.ContainsRune(" \t\n\r\v\f#", p.src[p.pos]) {
		return false
	}
	if p.src[p.pos] == '#' {
		for p.pos < len(p.src) && p.src[p.pos] != '\n' {
			p.pos++
		}
		return true
	}
	p.pos++
	return true
}

// quantifier reads * + ? or {m,n}. It returns false if there is none.
func (p *reParser) quantifier() (w width, ok bool, err error) {
	start := p.pos
	switch {
	case p.take("*"):
		return width{0, unbounded}, true, nil
	case p.take("+"):
		return width{1, unbounded}, true, nil
	case p.take("?"):
		return width{0, 1}, true, nil
	case !p.take("{"):
		return w, false, nil
	}
	number := func(missing int) (int, bool) {
		from := p.pos
		for p.pos < len(p.src) && p.src[p.pos] >= '0' && p.src[p.pos] <= '9' {
			p.pos++
		}
		if from == p.pos {
			return missing, false
		}
		n, e := strconv.Atoi(string(p.src[from:p.pos]))
		if e != nil || n >= math.MaxUint32 {
			err = Errorf(Value, "regular expression: number of repetitions too large")
		}
		return min(n, unbounded), true
	}
	low, hasLow := number(0)
	high := low
	comma := p.take(",")
	if comma {
		high, _ = number(unbounded)
	}
	if !p.take("}") || !hasLow && !comma {
		p.pos = start
		return w, false, nil
	}
	if err == nil && high < low {
		err = reError("minimum of repetitions greater than the maximum")
	}
	return width{low, high}, true, err
}

func (p *reParser) repeated(text string, w width, repeatable bool) (string, width, error) {
	count, ok, err := p.quantifier()
	if err != nil || !ok {
		return text, w, err
	}
	if !repeatable {
		return "", w, reError("nothing to repeat at %d", p.pos-1)
	}
	q := fmt.Sprintf("{%d,%d}", count.min, count.max)
	if count.max == unbounded {
		q = fmt.Sprintf("{%d,}", count.min)
	}
	times := func(a, b int) int { return int(min(int64(a)*int64(b), unbounded)) }
	w = width{times(w.min, count.min), times(w.max, count.max)}
	switch {
	case p.take("?"):
		text += q + "?"
	case p.take("+"):
		text = "(?>" + text + q + ")"
	default:
		text += q
	}
	if _, again, _ := p.quantifier(); again {
		return "", w, reError("repetition of a repetition at %d", p.pos-1)
	}
	return text, w, nil
}

func literal(r rune) string {
	if r < 0x80 && !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' {
		return fmt.Sprintf(`\x%02x`, r)
	}
	return string(r)
}

var oneWide = width{1, 1}

// atom translates what a quantifier can follow.
func (p *reParser) atom(flags reFlags) (text string, w width, repeatable bool, err error) {
	r := p.src[p.pos]
	if _, ok, _ := p.quantifier(); ok {
		return "", w, false, reError("nothing to repeat at %d", p.pos-1)
	}
	p.pos++
	switch r {
	case '.':
		if flags.dotAll {
			return `[\s\S]`, oneWide, true, nil
		}
		return `[^\n]`, oneWide, true, nil
	case '^':
		if flags.multiLine {
			return `(?m:^)`, w, false, nil
		}
		return `\A`, w, false, nil
	case '$':
		if flags.multiLine {
			return `(?m:$)`, w, false, nil
		}
		return `\Z`, w, false, nil
	case '(':
		return p.group(flags)
	case '[':
		text, err = p.class(flags)
		return text, oneWide, true, err
	case '\\':
		return p.escape(flags)
	}
	return literal(r), oneWide, true, nil
}

func (p *reParser) escape(flags reFlags) (text string, w width, repeatable bool, err error) {
	if p.pos == len(p.src) {
		return "", w, false, reError(`backslash at the end`)
	}
	r := p.src[p.pos]
	classes := reClasses
	if flags.ascii {
		classes = reASCIIClasses
	}
	if c := classes[r]; c != "" {
		p.pos++
		return "[" + c + "]", oneWide, true, nil
	}
	word := "[" + classes['w'] + "]"
	switch r {
	case 'A':
		p.pos++
		return `\A`, w, false, nil
	case 'Z':
		p.pos++
		return `\z`, w, false, nil
	case 'b':
		p.pos++
		return "(?:(?<=" + word + ")(?!" + word + ")|(?<!" + word + ")(?=" + word + "))", w, false, nil
	case 'B':
		p.pos++
		return "(?:(?<=" + word + ")(?=" + word + ")|(?<!" + word + ")(?!" + word + `)(?:(?<=[\s\S])|(?=[\s\S])))`, w, false, nil
	}
	if r >= '1' && r <= '9' {
		// Three octal digits are a character, fewer digits a group.
		if !p.octal(3) {
			n := int(r - '0')
			if p.pos++; p.pos < len(p.src) && p.src[p.pos] >= '0' && p.src[p.pos] <= '9' {
				n = n*10 + int(p.src[p.pos]-'0')
				p.pos++
			}
			text, w, err = p.reference(n)
			return text, w, true, err
		}
	}
	c, err := p.character(false)
	return literal(c), oneWide, true, err
}

// octal reports whether n octal digits follow.
func (p *reParser) octal(n int) bool {
	for i := range n {
		if p.pos+i >= len(p.src) || p.src[p.pos+i] < '0' || p.src[p.pos+i] > '7' {
			return false
		}
	}
	return true
}

func (p *reParser) reference(n int) (string, width, error) {
	w, closed := p.widths[n]
	switch {
	case n > p.groups || n == 0:
		return "", w, reError("invalid group %d", n)
	case !closed:
		return "", w, reError("reference to group %d, which is open", n)
	}
	return fmt.Sprintf(`\k<%d>`, n), w, nil
}

// character reads an escaped character, after the backslash.
func (p *reParser) character(inClass bool) (rune, error) {
	r := p.src[p.pos]
	if n := map[rune]int{'x': 2, 'u': 4, 'U': 8}[r]; n > 0 {
		if p.pos+1+n <= len(p.src) {
			if code, err := strconv.ParseUint(string(p.src[p.pos+1:p.pos+1+n]), 16, 32); err == nil && code <= unicode.MaxRune {
				p.pos += 1 + n
				return rune(code), nil
			}
		}
		return 0, reError(`\%c needs %d hexadecimal digits`, r, n)
	}
	if r == '0' || r <= '7' && p.octal(3) || inClass && p.octal(1) {
		end := p.pos
		for end < len(p.src) && end < p.pos+3 && p.src[end] >= '0' && p.src[end] <= '7' {
			end++
		}
		code, _ := strconv.ParseInt(string(p.src[p.pos:end]), 8, 32)
		p.pos = end
		if code > 0o377 {
			return 0, reError("octal escape out of range")
		}
		return rune(code), nil
	}
	p.pos++
	if i := strings.IndexRune("afnrtv", r); i >= 0 {
		return rune("\a\f\n\r\t\v"[i]), nil
	}
	if r == 'b' && inClass {
		return '\b', nil
	}
	if r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
		return 0, reError(`unknown escape \%c`, r)
	}
	return r, nil
}

// class translates a character class, after the bracket.
func (p *reParser) class(flags reFlags) (string, error) {
	var b strings.Builder
	b.WriteByte('[')
	if p.take("^") {
		b.WriteByte('^')
	}
	classes := reClasses
	if flags.ascii {
		classes = reASCIIClasses
	}
	// item reads a character, or a class such as \d.
	item := func() (r rune, set string, err error) {
		r = p.src[p.pos]
		p.pos++
		if r != '\\' {
			return r, "", nil
		}
		if p.pos == len(p.src) {
			return 0, "", reError("backslash at the end")
		}
		if set = classes[p.src[p.pos]]; set != "" {
			p.pos++
			return 0, set, nil
		}
		r, err = p.character(true)
		return r, "", err
	}
	for first := true; ; first = false {
		if p.pos == len(p.src) {
			return "", reError("missing ]")
		}
		if !first && p.take("]") {
			b.WriteByte(']')
			return b.String(), nil
		}
		low, set, err := item()
		if err != nil {
			return "", err
		}
		if p.has("-") && p.pos+1 < len(p.src) && p.src[p.pos+1] != ']' {
			p.pos++
			high, highSet, err := item()
			if err != nil {
				return "", err
			}
			if set != "" || highSet != "" || high < low {
				return "", reError("invalid range in a character class")
			}
			b.WriteString(literal(low) + "-" + literal(high))
			continue
		}
		if set == "" {
			set = literal(low)
		}
		b.WriteString(set)
	}
}

func isGroupName(s string) bool {
	for i, r := range s {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return false
		}
	}
	return s != ""
}

// name reads a name up to a character.
func (p *reParser) name(end rune) (string, error) {
	start := p.pos
	for p.pos < len(p.src) && p.src[p.pos] != end {
		p.pos++
	}
	if p.pos == len(p.src) {
		return "", reError("missing %c after a name", end)
	}
	p.pos++
	return string(p.src[start : p.pos-1]), nil
}

// group translates a group, after the parenthesis.
func (p *reParser) group(flags reFlags) (text string, w width, repeatable bool, err error) {
	closed := func(open string, flags reFlags) (string, width, bool, error) {
		inner, w, err := p.alternatives(flags)
		if err == nil && !p.take(")") {
			err = reError("missing )")
		}
		return open + inner + ")", w, true, err
	}
	capture := func(name string) (string, width, bool, error) {
		if p.groups++; p.groups > maxGroups {
			return "", w, false, Errorf(Limit, "regular expression of more than %d groups", maxGroups)
		}
		n := p.groups
		if name != "" {
			p.names[name] = n
		}
		text, w, _, err := closed(fmt.Sprintf("(?<%d>", n), flags)
		p.widths[n] = w
		return text, w, true, err
	}
	switch {
	case !p.take("?"):
		return capture("")
	case p.take("P<"):
		name, err := p.name('>')
		if err != nil {
			return "", w, false, err
		}
		if _, known := p.names[name]; known || !isGroupName(name) {
			return "", w, false, reError("invalid or repeated group name %q", shorten(name))
		}
		return capture(name)
	case p.take("P="):
		name, err := p.name(')')
		if err != nil {
			return "", w, false, err
		}
		n, known := p.names[name]
		if !known {
			return "", w, false, reError("unknown group name %q", shorten(name))
		}
		text, w, err = p.reference(n)
		return text, w, true, err
	case p.take("#"):
		_, err := p.name(')')
		return "", w, false, err
	case p.take(":"):
		return closed("(?:", flags)
	case p.take(">"):
		return closed("(?>", flags)
	case p.take("="), p.take("!"):
		text, _, _, err = closed("(?"+string(p.src[p.pos-1]), flags)
		return text, width{}, true, err
	case p.take("<="), p.take("<!"):
		text, w, _, err = closed("(?<"+string(p.src[p.pos-1]), flags)
		if err == nil && w.min != w.max {
			err = reError("look-behind of variable width")
		}
		return text, width{}, true, err
	case p.take("("):
		return p.conditional(flags)
	}
	return p.scopedFlags(flags, closed)
}

func (p *reParser) conditional(flags reFlags) (text string, w width, repeatable bool, err error) {
	name, err := p.name(')')
	if err != nil {
		return "", w, false, err
	}
	n, known := p.names[name]
	if !known {
		if n, err = strconv.Atoi(name); err != nil || n <= 0 || n > p.groups {
			return "", w, false, reError("unknown group %q in a condition", shorten(name))
		}
	}
	yes, yw, err := p.sequence(flags)
	if err != nil {
		return "", w, false, err
	}
	no, nw := "", width{}
	if p.take("|") {
		if no, nw, err = p.sequence(flags); err != nil {
			return "", w, false, err
		}
	}
	if !p.take(")") {
		return "", w, false, reError("condition without ) or with more than two branches")
	}
	return fmt.Sprintf("(?(%d)%s|%s)", n, yes, no), width{min(yw.min, nw.min), max(yw.max, nw.max)}, true, nil
}

func (p *reParser) scopedFlags(flags reFlags, closed func(string, reFlags) (string, width, bool, error)) (string, width, bool, error) {
	on, any := true, false
	for ; p.pos < len(p.src); p.pos++ {
		switch r := p.src[p.pos]; {
		case r == '-' && on:
			on, any = false, false
		case r == ':' && any:
			p.pos++
			if flags.ignoreCase {
				return closed("(?i:", flags)
			}
			return closed("(?-i:", flags)
		case !on && (r == 'a' || r == 'u'):
			return "", width{}, false, reError("flag %c cannot be turned off", r)
		default:
			if err := flags.set(r, on); err != nil {
				return "", width{}, false, err
			}
			any = true
		}
	}
	return "", width{}, false, reError("incomplete group")
}
