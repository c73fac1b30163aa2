package lumigl

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// sequence steps through what stands in a pair of brackets, and sees to the commas.
type sequence struct {
	*parser
	open  int
	close byte
	// end is where the last element ended, and comma where the comma behind it stands, -1 if there is none.
	end, comma int
	// several says that an element was read, so that a comma must come before the next.
	several bool
}

// next goes to the next element. It reports false behind the closing bracket, or where that should be.
func (s *sequence) next() bool {
	s.path[len(s.path)-1] = step{index: noStep} // What is wrong between elements is so with what holds them.
	for {
		s.space()
		if s.pos >= len(s.src) {
			s.unclosed()
			return false
		}
		switch c := s.src[s.pos]; {
		case c == s.close:
			if s.several && s.comma >= 0 {
				s.fix(TrailingCommaFault, s.comma, s.comma+1, "", "remove the comma", "trailing comma")
			}
			s.pos++
			return false
		case c == '}' || c == ']':
			if !s.mismatch(c) {
				return false
			}
		case c == ',':
			s.takeComma()
		case startsElision(s.src[s.pos:]):
			s.elision()
		default:
			if !s.several || s.comma >= 0 || s.withoutComma() {
				return true
			}
		}
	}
}

// withoutComma sees to what stands where a comma should. It reports true if an element may stand there.
func (s *sequence) withoutComma() bool {
	const message = "expected a comma between two elements"
	switch {
	case operates(s.src[s.pos:]):
		s.operation()
		return false
	case !s.startsElement():
		return true // It is said what is wrong where the element is read.
	case s.isDoubtful():
		s.skip("")
		return false
	case s.onSameLine() && (endsOtherwise(s.src[:s.end]) || s.close == ']' && s.pos == s.end):
		s.fault(MissingCommaFault, s.end, s.end, message)
	default:
		s.fix(MissingCommaFault, s.end, s.end, ",", "insert a comma", message)
	}
	s.comma = s.end
	return true
}

// isDoubtful reports whether what has no comma before it may be a part of the last element.
func (s *sequence) isDoubtful() bool {
	rest := s.src[s.pos:]
	word := wordEnd(rest)
	switch {
	case s.close == ']':
		return word > 0 && strings.HasPrefix(rest[word:], `"`)
	case !s.onSameLine():
		return !s.keyAt(s.pos) && (rest[0] != '"' || s.stringAt(s.pos) > 0)
	}
	return rest[0] != '"' && otherQuotes(rest) == "" || !s.keyAt(s.pos)
}

// onSameLine reports whether what comes stands on the same line as the end of the last element, which has no brackets.
func (s *sequence) onSameLine() bool {
	return !closing(s.src[s.end-1]) && strings.IndexByte(s.src[s.end:s.pos], '\n') < 0
}

// endsOtherwise reports whether a text ends in a quote that JSON does not have.
func endsOtherwise(text string) bool {
	_, n := utf8.DecodeLastRuneInString(text)
	return otherQuotes(text[len(text)-n:]) != ""
}

// operation goes on behind what joins values in other languages.
func (s *sequence) operation() {
	s.fault(UnexpectedFault, s.pos, s.pos+1, "JSON has no operators, such as %q; write the result", s.src[s.pos:s.pos+1])
	if s.pos < len(s.src) {
		s.pos++
		s.space()
	}
	s.lost()
}

// startsElement reports whether what comes looks like an element, so that there is a comma missing before it.
func (s *sequence) startsElement() bool {
	rest := s.src[s.pos:]
	return rest[0] == '"' || wordEnd(rest) > 0 || otherQuotes(rest) != "" ||
		s.close == ']' && (rest[0] == '{' || rest[0] == '[')
}

// took says that an element was read.
func (s *sequence) took() { s.end, s.comma, s.several = s.pos, -1, true }

// skip goes on behind what is no element.
func (s *sequence) skip(expected string) {
	if s.several && s.comma < 0 {
		expected = "a comma"
	}
	semicolon := s.at(';')
	s.fault(UnexpectedFault, s.pos, s.pos+1, "expected %s or %q, found %s", expected, string(s.close), s.found())
	if semicolon && s.pos < len(s.src) {
		s.pos++
		s.anyway()
		return
	}
	s.elided = s.elided || s.close == '}' // since there may be a key in what is skipped
	s.lost()
}

// lost goes to what separates or closes, or to the next line, over what nobody can make sense of. Whether there is a
// comma does not matter then.
func (s *sequence) lost() {
	for s.pos < len(s.src) && strings.IndexByte(",]}\n", s.src[s.pos]) < 0 {
		switch s.src[s.pos] {
		case '{', '[':
			s.value()
		case '"':
			s.pos++
			if n := strings.IndexAny(s.src[s.pos:], "\"\n"); n >= 0 && s.src[s.pos+n] == '"' {
				s.pos += n + 1
			}
		default:
			s.pos++
		}
	}
	s.anyway()
}

// anyway reads a comma, if there is one, where it does not matter whether there is.
func (s *sequence) anyway() {
	s.took()
	s.space()
	if s.at(',') {
		s.pos++
	}
	s.several = false
}

func (s *sequence) takeComma() {
	if !s.several || s.comma >= 0 {
		s.fix(ExtraCommaFault, s.pos, s.pos+1, "", "remove the comma", "comma without an element before it")
	} else {
		s.comma = s.pos
	}
	s.pos++
}

// member reads a key with its value.
func (s *sequence) member() {
	start := s.pos
	key, ok := s.key()
	if !ok {
		s.skip("a key in double quotes")
		return
	}
	s.path[len(s.path)-1] = step{key: key, index: -1}
	if !s.once && len(s.path) != 2 && s.astray.Message == "" {
		s.stray(start, key)
	}
	key, ok = s.colon(start, key)
	if !ok {
		s.members = append(s.members, Member{Key: key, offset: uint32(start)})
		s.lost()
		return
	}
	if s.graph != nil && s.vertex(start, key) {
		s.took()
		return
	}
	v := s.value()
	s.members = append(s.members, Member{Key: key, Value: v, offset: uint32(start)})
	if v.Exists() {
		s.took()
		return
	}
	if s.pos < len(s.src) {
		s.fault(UnexpectedFault, s.pos, s.pos+1, "expected a value for %q, found %s", clip(key), s.found())
	}
	s.lost()
}

// What is said of a URN as a key where no resource is.
const (
	tooFew  = `a "}" is probably missing before this`
	tooMany = `there is probably a "}" too many before this`
)

// stray notes where the first key is that is a URN and stands too deep in the resources, or behind them. It may be data,
// so that nothing is said of it unless brackets do not match.
func (p *parser) stray(start int, key string) {
	isSection := func(m Member) bool { return m.Key == snapshotForm.section }
	switch {
	case !strings.HasPrefix(key, "urn:lumi:"):
	case len(p.path) > 2 && p.path[0].key == snapshotForm.section:
		p.astray = Note{Offset: start, Message: tooFew}
	case len(p.path) == 1 && slices.ContainsFunc(p.members, isSection):
		p.astray = Note{Offset: start, Message: tooMany}
	}
}

// withAstray returns the notes of a fault about brackets.
func (p *parser) withAstray(message string, notes ...Note) []Note {
	if p.astray.Message == message {
		return append(notes, p.astray)
	}
	return notes
}

// elision reads dots that stand for elements which somebody left out, with the comma behind them.
func (s *sequence) elision() {
	start := s.pos
	for s.pos < len(s.src) && (s.src[s.pos] == '.' || strings.HasPrefix(s.src[s.pos:], "…")) {
		if s.src[s.pos] == '.' {
			s.pos++
		} else {
			s.pos += len("…")
		}
	}
	s.elided = true
	s.fault(ElisionFault, start, s.pos, "something is left out here; a file has to be complete")
	s.anyway()
}

// mismatch stands before a closing bracket of the other kind. If one is open around, it is that one's, and nothing closes
// this one; then it reports false. Otherwise the bracket is one too many, or a slip for the right one.
func (s *sequence) mismatch(c byte) bool {
	if s.wrong != s.pos { // Else it has been said of what is open inside.
		s.report(Fault{
			Code: BracketFault, Offset: s.pos, End: s.pos + 1,
			Message: "expected \"" + string(s.close) + "\", found \"" + string(c) + "\"",
			Notes:   []Note{{Offset: s.open, Message: "to close this"}},
		})
	}
	s.broken, s.wrong = true, s.pos
	for _, around := range s.path[:len(s.path)-1] {
		if (around.index >= 0) == (c == ']') {
			return false
		}
	}
	s.pos = min(s.pos+1, len(s.src))
	return true
}

func (s *sequence) unclosed() {
	if s.broken {
		return // It has been said, one way or another.
	}
	s.broken = true
	s.report(Fault{
		Code: BracketFault, Offset: s.pos, End: s.pos,
		Message: "expected \"" + string(s.close) + "\", found the end of the file",
		Notes:   s.withAstray(tooFew, Note{Offset: s.open, Message: "to close this"}),
	})
}

// space skips white space, and what JSON does not have: comments, and white space of other kinds.
func (p *parser) space() {
	for i := p.pos; i < len(p.src); {
		switch c := p.src[i]; c {
		case '\n':
			for i++; strings.HasPrefix(p.src[i:], "        "); { // Most space is indentation.
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

// strangeSpace skips one piece of what JSON does not have between tokens, if it stands here.
func (p *parser) strangeSpace(c byte) bool {
	switch {
	case c == '/' || c == '#':
		return p.comment()
	case c == '\v' || c == '\f' || c >= utf8.RuneSelf:
		n := spaceEnd(p.src[p.pos:])
		if n == 0 {
			return false
		}
		r, _ := utf8.DecodeRuneInString(p.src[p.pos:])
		p.fix(SpaceFault, p.pos, p.pos+n, " ", "write a space", "the character %U is not white space in JSON", r)
		p.pos = min(p.pos+n, len(p.src))
		return true
	}
	return false
}

// spaceEnd returns the length of a character of white space that JSON does not have, 0 if s starts with another.
func spaceEnd(s string) int {
	const invisible = "\u200b\u2060\ufeff"
	r, n := utf8.DecodeRuneInString(s)
	if r >= utf8.RuneSelf && (unicode.IsSpace(r) || strings.ContainsRune(invisible, r)) && n > 1 || r == '\v' || r == '\f' {
		return n
	}
	return 0
}

// comment reads a comment, if there is one.
func (p *parser) comment() bool {
	start := p.pos
	rest := p.src[start:]
	n := len(rest)
	switch {
	case strings.HasPrefix(rest, "/*"):
		end := strings.Index(rest[2:], "*/")
		if end < 0 {
			p.fault(CommentFault, start, start+2, `JSON has no comments, and this one does not end; remove it, or close it with "*/" first`)
			p.broken, p.pos = true, len(p.src)
			return true
		}
		n = end + len("/**/")
	case strings.HasPrefix(rest, "//") || rest[0] == '#':
		if end := strings.IndexByte(rest, '\n'); end >= 0 {
			n = end
		}
	default:
		return false
	}
	const message = "JSON has no comments"
	if !strings.HasPrefix(rest, "/*") && strings.Count(rest[:n], `"`)%2 == 1 {
		p.fault(CommentFault, start, start+n, message) // It may be a part of a string with a quote inside.
	} else {
		p.fix(CommentFault, start, start+n, "", "remove the comment", message)
	}
	p.pos = max(p.pos, start+n)
	return true
}
