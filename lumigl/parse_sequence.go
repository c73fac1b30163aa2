package lumigl

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// sequence iterates over comma-separated elements between brackets.
type sequence struct {
	*parser
	open  int
	close byte
	// end is the end of the last element. comma is the position of the comma after it, or -1.
	end, comma int
	// several is set if a comma must precede the next element.
	several bool
	// quoted is set if the last element is a string.
	quoted bool
}

// next advances to the next element. It returns false after the closing bracket and after the parser has stopped.
func (s *sequence) next() bool {
	s.path[len(s.path)-1] = step{index: noStep} // Errors between elements belong to the list or object.
	for {
		s.space()
		if s.pos >= len(s.src) {
			s.mismatch("the end of the file")
			return false
		}
		switch c := s.src[s.pos]; {
		case c == s.close:
			s.pos++
			if s.several && s.comma >= 0 {
				s.fix(TrailingCommaFault, s.comma, s.comma+1, "", "remove the comma", "trailing comma")
			}
			return false
		case c == '}' || c == ']':
			s.mismatch(s.found())
			return false
		case c == ',':
			s.takeComma()
		case s.elision():
			// After an elision, the comma is optional.
			if s.space(); s.at(',') {
				s.pos++
			}
			s.several = false
		case !s.several || s.comma >= 0:
			return true
		case s.lacksComma():
			s.comma = s.end
			s.fix(MissingCommaFault, s.end, s.end, ",", "insert a comma", "missing comma between elements")
		default:
			s.unexpected(fmt.Sprintf("a comma or %q", string(s.close)))
		}
	}
}

// lacksComma reports whether another element starts here and only the comma before it is missing. If the elements are
// on the same line, it returns false after a string, which may contain an unescaped quote, and before a word, which may
// be part of the previous element.
func (s *sequence) lacksComma() bool {
	between, rest := s.src[s.end:s.pos], s.src[s.pos:]
	newLine := strings.Contains(between, "\n")
	switch {
	case rest[0] == '{' || rest[0] == '[':
		return s.close == ']' && (newLine || !s.quoted)
	case rest[0] == '"' || otherQuotes(rest) != "":
		return newLine || !s.quoted && (between != "" || strings.IndexByte("}]", s.src[s.end-1]) >= 0)
	}
	return newLine && wordEnd(rest) > 0
}

// took records that the element v was read.
func (s *sequence) took(v Value) {
	s.end, s.comma, s.several, s.quoted = s.pos, -1, true, v.kind == Text
}

func (s *sequence) takeComma() {
	s.pos++
	if s.several && s.comma < 0 {
		s.comma = s.pos - 1
		return
	}
	s.fix(ExtraCommaFault, s.pos-1, s.pos, "", "remove the comma", "comma without an element before it")
}

// member parses a key and its value and pushes them onto the stack.
func (s *sequence) member() {
	start := s.pos
	key, ok := s.key()
	if !ok {
		return
	}
	s.path[len(s.path)-1] = step{key: key, index: -1}
	if s.at(' ') {
		s.pos++
	}
	s.space()
	if s.graph != nil && s.vertex(start, key) {
		s.took(Value{})
		return
	}
	v := s.value()
	if !v.Exists() {
		s.unexpected(fmt.Sprintf("a value for %q", clip(key)))
		return
	}
	s.members = append(s.members, Member{Key: key, Value: v, offset: uint32(start)})
	s.took(v)
}

// key parses a key and its colon. It returns false if the parser has stopped.
func (s *sequence) key() (string, bool) {
	start := s.pos
	var word, key string
	if s.at('"') {
		key = s.text()
	} else if quotes := otherQuotes(s.src[start:]); quotes != "" {
		key = s.otherwiseQuoted(quotes)
	} else {
		word = s.src[start : start+wordEnd(s.src[start:])]
		if word == "" {
			s.unexpected(fmt.Sprintf("a key in double quotes or %q", string(s.close)))
			return "", false
		}
		key = word
		s.pos += len(word)
	}
	end := s.pos
	if s.pos < len(s.src) && s.src[s.pos] != ':' {
		s.space()
	}
	if !s.at(':') {
		if s.pos < len(s.src) {
			s.fail(Fault{
				Code: MissingColonFault, Offset: end, End: end,
				Message: fmt.Sprintf(`expected ":" after the key %q, found %s`, clip(key), s.found()),
			})
		}
		return "", false
	}
	s.pos++
	if word != "" {
		s.fix(KeyFault, start, end, quote(word), "put the key in double quotes", "missing quotes around key %s", shown(word))
	}
	return key, true
}

// mismatch reports that the closing bracket was expected.
func (s *sequence) mismatch(found string) {
	s.fail(Fault{
		Code: BracketFault, Offset: s.pos, End: min(s.pos+1, len(s.src)),
		Message: fmt.Sprintf("expected %q, found %s", string(s.close), found),
		Notes:   []Note{{Offset: s.open, Message: "opened here"}},
	})
}

// space skips white space. It reports comments and white space not allowed in JSON.
func (p *parser) space() {
	for i := p.pos; i < len(p.src); {
		switch c := p.src[i]; c {
		case '\n':
			for i++; strings.HasPrefix(p.src[i:], "        "); { // Most white space is indentation.
				i += 8
			}
		case ' ', '\t', '\r':
			i++
		default:
			if p.pos = i; c == '"' || c == ',' || !p.strangeSpace(c) {
				return
			}
			i = p.pos
		}
	}
	p.pos = len(p.src)
}

// strangeSpace skips a comment or a white space character not allowed in JSON. It returns false if neither starts here.
func (p *parser) strangeSpace(c byte) bool {
	switch {
	case c == '/' || c == '#':
		return p.comment()
	case c == '\v' || c == '\f' || c >= utf8.RuneSelf:
		start := p.pos
		n := spaceEnd(p.src[start:])
		if n == 0 {
			return false
		}
		r, _ := utf8.DecodeRuneInString(p.src[start:])
		p.pos += n
		p.fix(SpaceFault, start, start+n, " ", "write a space", "character %U is not white space in JSON", r)
		return true
	}
	return false
}

// comment reports and skips a comment. It returns false if none starts here.
func (p *parser) comment() bool {
	start := p.pos
	rest := p.src[start:]
	n, text := len(rest), ""
	switch {
	case strings.HasPrefix(rest, "/*"):
		end := strings.Index(rest[2:], "*/")
		if end < 0 {
			p.fail(Fault{
				Code: CommentFault, Offset: start, End: start + 2,
				Message: `unterminated comment; JSON has no comments`,
			})
			return true
		}
		n, text = end+len("/**/"), " " // keeps the tokens around it apart
	case strings.HasPrefix(rest, "//") || rest[0] == '#':
		if end := strings.IndexByte(rest, '\n'); end >= 0 {
			n = end
		}
	default:
		return false
	}
	const message = "JSON has no comments"
	if inString(strings.TrimRight(p.src[:start], " \t"), rest[:n]) {
		p.fail(Fault{Code: CommentFault, Offset: start, End: start + n, Message: message})
		return true
	}
	p.pos += n
	p.fix(CommentFault, start, start+n, text, "remove the comment", message)
	return true
}

// inString reports whether a comment is probably part of the preceding string, which then contains an unescaped quote.
func inString(before, comment string) bool {
	_, n := utf8.DecodeLastRuneInString(before)
	last := before[len(before)-n:]
	return strings.Count(comment, `"`)%2 == 1 ||
		(last == `"` || otherQuotes(last) != "") && strings.ContainsAny(comment, `"`+strings.Join(quotes[:], ""))
}
