package lumigl

import "strings"

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
	for {
		s.space()
		if s.pos == len(s.src) {
			s.unclosed()
			return false
		}
		switch c := s.src[s.pos]; {
		case c == s.close:
			if s.several && s.comma >= 0 {
				s.fix(TrailingComma, s.comma, s.comma+1, "", "remove the comma", "there is a comma behind the last element")
			}
			s.pos++
			return false
		case c == '}' || c == ']':
			s.mismatch(c)
			return false
		case c == ',':
			s.takeComma()
		case strings.HasPrefix(s.src[s.pos:], "...") || strings.HasPrefix(s.src[s.pos:], "…"):
			s.elision()
		default:
			if s.several && s.comma < 0 {
				s.fix(MissingComma, s.end, s.end, ",", "insert a comma", "expected a comma between two elements")
			}
			return true
		}
	}
}

// took says that an element was read.
func (s *sequence) took() { s.end, s.comma, s.several = s.pos, -1, true }

// skip goes on behind what is no element.
func (s *sequence) skip(expected string) {
	s.fault(UnexpectedFault, s.pos, s.pos+1, "expected %s, found %s", expected, s.found())
	for s.pos < len(s.src) && !strings.ContainsRune(",]}\n", rune(s.src[s.pos])) {
		s.pos++
	}
	s.took()
}

func (s *sequence) takeComma() {
	if !s.several || s.comma >= 0 {
		s.fix(ExtraComma, s.pos, s.pos+1, "", "remove it", "there is a comma without an element before it")
	}
	s.comma = s.pos
	s.pos++
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
	s.took()
	s.space()
	if s.at(',') {
		s.pos++
	}
	s.several = false // so that it does not matter whether there was a comma
}

// mismatch stands before a closing bracket of the other kind. If one is open around, it is that one's.
func (s *sequence) mismatch(c byte) {
	s.broken = true
	s.report(Fault{
		Code: BracketFault, Offset: s.pos, End: s.pos + 1,
		Message: "expected \"" + string(s.close) + "\", found \"" + string(c) + "\"",
		Notes:   []Note{{Offset: s.open, Message: "to close this"}},
	})
	if len(s.path) < 2 || (s.path[len(s.path)-2].index < 0) != (c == '}') {
		s.pos = min(s.pos+1, len(s.src))
	}
}

func (s *sequence) unclosed() {
	if s.broken {
		return // It has been said, one way or another.
	}
	s.broken = true
	s.report(Fault{
		Code: BracketFault, Offset: s.pos, End: s.pos,
		Message: "expected \"" + string(s.close) + "\", found the end of the file",
		Notes:   []Note{{Offset: s.open, Message: "to close this"}},
	})
}

// space skips white space, and comments, which JSON does not have.
func (p *parser) space() {
	for p.pos < len(p.src) {
		switch p.src[p.pos] {
		case ' ', '\n', '\t', '\r':
			p.pos++
		case '/', '#':
			if !p.comment() {
				return
			}
		default:
			return
		}
	}
}

// comment reads a comment, if there is one.
func (p *parser) comment() bool {
	start := p.pos
	rest := p.src[start:]
	switch {
	case strings.HasPrefix(rest, "/*"):
		n := strings.Index(rest[2:], "*/")
		if n < 0 {
			n = len(rest) - len("/**/")
		}
		p.pos += min(n+len("/**/"), len(rest))
	case strings.HasPrefix(rest, "//") || rest[0] == '#':
		n := strings.IndexByte(rest, '\n')
		if n < 0 {
			n = len(rest)
		}
		p.pos += n
	default:
		return false
	}
	p.fix(CommentFault, start, p.pos, "", "remove the comment", "JSON has no comments")
	return true
}
