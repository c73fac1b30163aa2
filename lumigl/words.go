package lumigl

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// key reads a key, also if its quotes are not as they should be.
func (p *parser) key() (string, bool) {
	start := p.pos
	if p.at('"') {
		key := p.text()
		if p.src[p.pos-1] != '"' || p.pos == start+1 {
			key = p.cutKey(start+1, key)
		}
		return key, true
	}
	if quotes := otherQuotes(p.src[start:]); quotes != "" {
		return p.otherwiseQuoted(quotes), true
	}
	n := wordEnd(p.src[start:])
	if n == 0 {
		return "", false
	}
	p.pos += n
	word := p.src[start:p.pos]
	unopened := p.at('"')
	if unopened {
		p.pos++
	}
	next := p.afterAll(p.pos)
	switch {
	case next < len(p.src) && startsComment(p.src[next:]):
		p.fault(KeyFault, start, start+n, "the key %s has no quotes", shown(word)) // There is a fix when the comment is gone.
	case next < len(p.src) && p.src[next] != ':' && p.src[next] != '=':
		// It may be a part of something else. That there is no colon is said.
	case unopened:
		p.fix(KeyFault, start, start, `"`, "insert the quote", "the key %s has no opening quote", shown(word))
	default:
		p.fix(KeyFault, start, start+n, quote(word), "put the key in double quotes", "the key %s has no quotes", shown(word))
	}
	return word, true
}

// cutKey takes a key that does not end for one that goes to the last colon of its line that looks like a separator.
func (p *parser) cutKey(start int, key string) string {
	n := strings.LastIndex(key, ": ")
	if n < 0 {
		n = strings.LastIndexByte(key, ':')
	}
	if n < 0 || strings.ContainsFunc(key[n:], isReported) {
		return key
	}
	p.pos = start + n
	return key[:n]
}

// isReported reports whether there may have been a fault about a character within a string. It is not read again then.
func isReported(r rune) bool { return r < ' ' || r == '\\' }

// colon reads the colon between key and value, and the space around it. It returns the key, which may have taken in the
// colon, and reports whether a value may follow.
func (p *parser) colon(start int, key string) (string, bool) {
	end := p.pos
	if p.pos < len(p.src) && p.src[p.pos] != ':' {
		p.space()
	}
	switch {
	case p.at(':'):
		p.pos++
	case p.at('=') && p.isClearValue(p.pos+1):
		p.fix(MissingColonFault, p.pos, p.pos+1, ":", `write ":"`, `expected ":" behind the key, found "="`)
		p.pos++
	case p.pos >= len(p.src):
		return key, false // The bracket that is not closed is reported.
	case p.at(',') || p.at('}') || p.at(']'):
		p.fault(MissingColonFault, end, end, "expected \":\" and a value behind the key %q, found %s", clip(key), p.found())
		return key, false
	case p.takesInColon(start, end):
		key = p.src[start+1 : p.pos]
		p.path[len(p.path)-1].key = key
		p.fault(StringFault, start, p.pos, "the key %q has no closing quote", clip(key))
		p.pos = min(p.pos+1, len(p.src))
	case !p.isClearValue(p.pos) || p.src[start] != '"' && otherQuotes(p.src[start:]) == "":
		if p.afterLines(end) == p.pos && strings.Contains(p.src[end:p.pos], "\n") {
			p.pos = end // The next line is read as one with a member.
		}
		p.elided = true // since there may be a key in what is skipped
		p.fault(MissingColonFault, end, end, `expected ":" behind the key`)
		return key, false
	default:
		p.fix(MissingColonFault, end, end, ":", "insert a colon", `expected ":" behind the key`)
	}
	if p.at(' ') {
		p.pos++
	}
	p.space()
	return key, true
}

// isClearValue reports whether what stands at i is surely a value, so that what is before it is the key.
func (p *parser) isClearValue(i int) bool {
	i = p.afterLines(i)
	switch rest := p.src[i:]; {
	case rest == "":
		return false
	case rest[0] == '{' || rest[0] == '[':
		return true
	case rest[0] == '"':
		end := p.stringAt(i)
		return end > 0 && p.settled(end)
	default:
		n := wordEnd(rest)
		return isPlainWord(rest[:n]) && p.settled(i+n)
	}
}

// takesInColon reports whether a key that no colon follows has one inside, and a value up to the quote that opens the
// next string. If so, it goes back to the colon.
func (p *parser) takesInColon(start, end int) bool {
	if p.src[start] != '"' || end-start < 2 || p.src[end-1] != '"' || strings.Trim(p.src[end:p.pos], " \t\r\n") != "" {
		return false
	}
	text := p.src[start+1 : end-1]
	n := strings.Index(text, ": ")
	if n < 0 && strings.HasSuffix(text, ":") {
		n = len(text) - 1
	}
	if n <= 0 || strings.ContainsFunc(text[n:], isReported) {
		return false
	}
	p.pos = start + 1 + n
	return true
}

// startsNumber reports whether a value starts like a number, also as other languages have them.
func startsNumber(s string) bool {
	c := s[0]
	if '0' <= c && c <= '9' || c == '-' {
		return true
	}
	s = strings.TrimPrefix(strings.TrimPrefix(s, "+"), ".")
	return (c == '+' || c == '.') && s != "" && '0' <= s[0] && s[0] <= '9'
}

// number reads a number, also if it is written as other languages have it.
func (p *parser) number() string {
	start := p.pos
	n := numberEnd(p.src[start:])
	p.pos += max(n, 1)
	for p.pos < len(p.src) && isWordByte(p.src[p.pos]) {
		p.pos++
	}
	literal := p.src[start:p.pos]
	if n == len(literal) {
		return literal
	}
	mended, problem := mendNumber(literal)
	switch {
	case mended != "":
		p.fix(NumberFault, start, p.pos, mended, "write "+clip(mended), "%s is not a JSON number: %s", shown(literal), problem)
		return mended
	case problem != "":
		p.fault(NumberFault, start, p.pos, "%s is not a JSON number: %s", shown(literal), problem)
	default:
		p.strayWord(NumberFault, start, "a JSON number")
	}
	return "0"
}

// mendNumber returns the number that somebody meant, if there is no doubt, and what is wrong with the way it is written.
func mendNumber(literal string) (mended, problem string) {
	sign := ""
	rest := literal
	switch rest[0] {
	case '-':
		sign, rest = "-", rest[1:]
	case '+':
		rest, problem = rest[1:], "there is no plus sign in front of one"
	}
	switch {
	case rest == "Infinity" || rest == "NaN":
		return "", "there is no such number"
	case strings.HasPrefix(rest, "0x") || strings.HasPrefix(rest, "0X"):
		n, err := strconv.ParseUint(rest[2:], 16, 64)
		if err != nil {
			return "", ""
		}
		return sign + strconv.FormatUint(n, 10), "there are no hexadecimal ones"
	case len(rest) > 1 && rest[0] == '0' && digits(rest) == len(rest):
		return "", "it cannot start with 0"
	}
	if strings.Contains(rest, "_") {
		rest, problem = strings.ReplaceAll(rest, "_", ""), "its digits are not grouped"
	}
	if whole, fraction, ok := strings.Cut(rest, "."); ok && (whole == "" || digits(fraction) == 0) {
		problem = "it has digits on both sides of the point"
		if whole == "" {
			whole = "0"
		}
		if digits(fraction) == 0 {
			fraction = "0" + fraction
		}
		rest = whole + "." + fraction
	}
	if problem == "" || rest == "" || rest[0] == '-' || numberEnd(rest) != len(rest) {
		return "", ""
	}
	return sign + rest, problem
}

// word reads true, false and null, and what people write in place of JSON.
func (p *parser) word(v Value) Value {
	start := p.pos
	if quotes := otherQuotes(p.src[start:]); quotes != "" {
		v.kind, v.text = Text, p.otherwiseQuoted(quotes)
		return v
	}
	n := wordEnd(p.src[start:])
	p.pos += n
	switch word := p.src[start:p.pos]; word {
	case "true", "false":
		v.kind, v.text = Bool, word
	case "null":
		v.kind = Null
	case "":
		return Value{}
	default:
		return p.badWord(start, word, v)
	}
	return v
}

func (p *parser) badWord(start int, word string, v Value) Value {
	v.kind = Null
	if strings.HasPrefix(word, "...") || strings.HasPrefix(word, "…") {
		p.elided = true
		p.fault(ElisionFault, start, p.pos, "something is left out here; a file has to be complete")
		return v
	}
	if p.at('"') {
		p.pos++
		p.fix(StringFault, start, start, `"`, "insert the quote", "the string %s has no opening quote", shown(word))
		v.kind, v.text = Text, word
		return v
	}
	for _, right := range []string{"true", "false", "null"} {
		if strings.EqualFold(word, right) {
			p.fix(LiteralFault, start, p.pos, right, "write "+right, "%s is not JSON; it is spelled %s", word, right)
			if right != "null" {
				v.kind, v.text = Bool, right
			}
			return v
		}
	}
	switch word {
	case "None", "nil", "undefined":
		p.fix(LiteralFault, start, p.pos, "null", "write null", "%s is not JSON; it is spelled null", word)
	case "NaN", "Infinity":
		p.fault(LiteralFault, start, p.pos, "%s is not JSON; there is no such number", word)
	default:
		p.strayWord(LiteralFault, start, "JSON")
	}
	return v
}

// strayWord notes a word that cannot be mended. At the top, it says that the file is in another language, such as YAML, of
// which nothing else is to be said.
func (p *parser) strayWord(code Code, start int, what string) {
	text := shown(p.unquoted(start))
	if len(p.path) > 0 {
		p.fault(code, start, p.pos, "%s is not %s; is it a string without quotes?", text, what)
		return
	}
	p.fault(UnexpectedFault, start, p.pos, "a file holds an object; expected \"{\", found %s", text)
	p.stop()
}

// unquoted reads on to the end of what is most likely a string without quotes, and returns it.
func (p *parser) unquoted(start int) string {
	for p.pos < len(p.src) && p.src[p.pos] > ' ' && strings.IndexByte(`,[]{}"`, p.src[p.pos]) < 0 {
		p.pos++
	}
	return p.src[start:p.pos]
}

// clip leaves out the middle of a text from the file so that it fits into a message. What tells names apart stands at
// their ends.
func clip(s string) string {
	const most, half = 120, 60
	if len(s) <= most {
		return s
	}
	start, end := half, len(s)-half
	for start > half-utf8.UTFMax && !utf8.RuneStart(s[start]) {
		start--
	}
	for end < len(s)-half+utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end++
	}
	return s[:start] + "…" + s[end:]
}

// shown is how a text from the file stands in a message: as it is, if it can be seen, else with escapes.
func shown(s string) string {
	s = clip(s)
	if !utf8.ValidString(s) || strings.ContainsFunc(s, isHidden) {
		return strconv.Quote(s)
	}
	return s
}

// wordEnd returns the length of the word that s starts with: letters, digits, and what else stands in names.
func wordEnd(s string) int {
	n := 0
	for n < len(s) && isWordByte(s[n]) {
		if s[n] >= utf8.RuneSelf && (otherQuotes(s[n:]) != "" || spaceEnd(s[n:]) > 0) {
			break
		}
		n++
	}
	return n
}

func isWordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		c == '_' || c == '$' || c == '-' || c == '+' || c == '.' || c >= utf8.RuneSelf
}
