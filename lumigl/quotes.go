package lumigl

import (
	"strings"
	"unicode/utf8"
)

// People write strings as they would elsewhere: with quotes inside, or over several lines. Where such a string ends can
// only be guessed. So there is no fix for it, but nothing in it is taken for keys and values either.

// How far the end of such a string is looked for.
const (
	mostLines  = 200
	mostInside = 64 << 10 // in bytes
	mostKey    = 1 << 10  // in bytes, of the key behind
)

// whole takes a string that is a value, and has just been read, for a part of one with quotes inside if what follows
// makes no sense otherwise. It returns the text of what it is.
func (p *parser) whole(start int, text string) string {
	if len(p.path) == 0 || p.src[p.pos-1] != '"' || p.pos == start+1 || !p.goesOn() {
		return text
	}
	inner := p.pos - 1
	end, _ := p.realEnd(start, p.pos)
	if end == 0 {
		return text
	}
	p.pos = end
	p.fault(StringFault, inner, inner+1, `a quote inside a string is written \"`)
	return p.src[start+1 : end-1]
}

// goesOn reports whether what stands behind the quote that was read looks like a part of the same string.
func (p *parser) goesOn() bool {
	next := p.afterBlanks(p.pos)
	direct := next == p.pos
	joined := direct && (p.at('#') || strings.HasPrefix(p.src[next:], "//")) // as in an address
	switch {
	case p.settled(p.pos) && !joined:
		return false
	case operates(p.src[next:]) || startsElision(p.src[next:]) || p.src[next] == ':':
		return false
	case p.inList():
		return direct || strings.IndexByte(`"{[`, p.src[next]) < 0 && otherQuotes(p.src[next:]) == ""
	}
	switch p.src[next] {
	case '"':
		return direct && !p.keyAt(next)
	case '{', '[':
		return direct
	}
	return direct || !p.keyAt(next)
}

// inList reports whether what is read is an element of a list, and not a member of an object.
func (p *parser) inList() bool { return p.path[len(p.path)-1].index >= 0 }

// overLines reads a string that does not end on its line, if it probably ends on one of the next.
func (p *parser) overLines(open, end int) (string, bool) {
	if len(p.path) == 0 || p.path[len(p.path)-1].index == noStep {
		return "", false // A key hardly has several lines.
	}
	behind, lines := p.realEnd(open, open+1)
	if lines < 2 {
		return "", false
	}
	p.pos = behind
	p.fault(StringFault, open, end, `the string goes on over %d lines; write \n for the end of a line`, lines)
	return p.src[open+1 : behind-1], true
}

// realEnd returns what is behind the quote that probably ends a string, and on how many lines the string stands, or 0. It
// looks from a place inside of the string on.
func (p *parser) realEnd(start, from int) (end, lines int) {
	// Text that is JSON itself may well have members and elements.
	nested := strings.HasSuffix(p.src[start:from], `{"`) || strings.HasSuffix(p.src[start:from], `["`)
	quotes := strings.Count(p.src[from-1:from], `"`)
	if from == start+1 {
		quotes = 0
	}
	lines = 1
	for i := from; i < min(len(p.src), from+mostInside); i++ {
		switch c := p.src[i]; {
		case c == '\\' && i+1 < len(p.src) && p.src[i+1] != '\n':
			i++
		case c == '\n':
			if lines++; lines > mostLines || p.beginsJSON(i+1) {
				return 0, 0
			}
		case c == ',' && lines == 1 && !nested && p.beginsNext(p.afterBlanks(i+1)):
			return 0, 0
		case c == '"':
			// Quotes come in pairs, but for the last. On one line it is enough that what follows is right.
			quotes++
			if (lines == 1 || quotes%2 == 1) && (!nested || closing(p.src[i-1])) && p.closesAt(i+1) {
				return i + 1, lines
			}
		}
	}
	return 0, 0
}

// closesAt reports whether what stands at i may follow a string: what separates and closes, and something that makes sense
// behind that.
func (p *parser) closesAt(i int) bool {
	i = p.afterBlanks(i)
	brackets := i
	for i < len(p.src) && closing(p.src[i]) {
		i = p.afterBlanks(i + 1)
	}
	brackets = i - brackets
	comma := i < len(p.src) && p.src[i] == ','
	if comma {
		i = p.afterBlanks(i + 1)
	}
	line := i >= len(p.src) || p.src[i] == '\n' || p.src[i] == '\r' || startsComment(p.src[i:])
	switch i = p.afterLines(i); {
	case i >= len(p.src):
		return true
	case !line && !comma:
		return false
	case closing(p.src[i]) || startsComment(p.src[i:]):
		return true
	case !comma && p.src[i] == ',':
		return true
	case brackets > 0:
		return strings.IndexByte(`"{[`, p.src[i]) >= 0
	}
	return p.beginsNext(i)
}

// beginsNext reports whether the next member or element begins at i.
func (p *parser) beginsNext(i int) bool {
	switch {
	case i >= len(p.src):
		return false
	case !p.inList():
		return p.keyAt(i)
	}
	n := wordEnd(p.src[i:])
	return strings.IndexByte(`"{[`, p.src[i]) >= 0 || n > 0 && isPlainWord(p.src[i:i+n])
}

// isPlainWord reports whether a word is a number, true, false or null.
func isPlainWord(word string) bool {
	return word == "true" || word == "false" || word == "null" || numberEnd(word) == len(word)
}

// beginsJSON reports whether the line at i begins as one of JSON does, with brackets and a key, or in a list with a string
// that is all there is.
func (p *parser) beginsJSON(i int) bool {
	for i < len(p.src) && strings.IndexByte(" \t{}[],", p.src[i]) >= 0 {
		i++
	}
	n := p.stringAt(i)
	if n > i+len(`""`) && p.inList() && p.settled(n) {
		return true
	}
	return n > 0 && p.keyAt(i)
}

// stringAt returns what is behind the string at i, 0 if there is none that ends on its line.
func (p *parser) stringAt(i int) int {
	if i >= len(p.src) || p.src[i] != '"' {
		return 0
	}
	for end := i + 1; end < min(len(p.src), i+mostKey); end++ {
		switch p.src[end] {
		case '\\':
			end++
		case '\n':
			return 0
		case '"':
			return end + 1
		}
	}
	return 0
}

// keyAt reports whether a key with a colon behind it stands at i.
func (p *parser) keyAt(i int) bool {
	rest := p.src[i:min(len(p.src), i+mostKey)]
	n := wordEnd(rest)
	if quotes := otherQuotes(rest); quotes != "" {
		n = quotedEnd(rest, quotes)
	} else if end := p.stringAt(i); end > 0 {
		n = end - i
	} else if n > 0 && strings.HasPrefix(rest[n:], `"`) {
		n++
	}
	return n > 0 && n <= len(rest) && strings.HasPrefix(strings.TrimLeft(rest[n:], " \t\r\n"), ":")
}

// quotedEnd returns the length of the string in other quotes that s starts with, 0 if it does not end on its line.
func quotedEnd(s, quotes string) int {
	_, first := utf8.DecodeRuneInString(s)
	n := strings.IndexAny(s[first:], quotes+"\n")
	if n < 0 || s[first+n] == '\n' {
		return 0
	}
	_, last := utf8.DecodeRuneInString(s[first+n:])
	return first + n + last
}

// settled reports whether a token that ends at i has on its line what may follow one, or nothing.
func (p *parser) settled(i int) bool {
	i = p.afterBlanks(i)
	return i >= len(p.src) || strings.IndexByte("\r\n,]}", p.src[i]) >= 0 || startsComment(p.src[i:])
}

// afterBlanks returns the place behind the blanks at i that do not end the line.
func (p *parser) afterBlanks(i int) int {
	for i < len(p.src) {
		n := spaceEnd(p.src[i:])
		if p.src[i] == ' ' || p.src[i] == '\t' {
			n = 1
		}
		if n == 0 {
			break
		}
		i += n
	}
	return i
}

// afterLines returns the place behind all blanks at i.
func (p *parser) afterLines(i int) int {
	for i < len(p.src) && strings.IndexByte(" \t\r\n", p.src[i]) >= 0 {
		i++
	}
	return i
}

// afterAll returns the place behind all blanks at i, also such as JSON does not have.
func (p *parser) afterAll(i int) int {
	for {
		next := p.afterLines(p.afterBlanks(i))
		if next == i {
			return i
		}
		i = next
	}
}

func closing(c byte) bool { return c == '}' || c == ']' }

func startsElision(s string) bool { return strings.HasPrefix(s, "...") || strings.HasPrefix(s, "…") }

func startsComment(s string) bool {
	return strings.HasPrefix(s, "#") || strings.HasPrefix(s, "//") || strings.HasPrefix(s, "/*")
}

// operates reports whether s starts with what joins two values in other languages, with the second of them behind it.
func operates(s string) bool {
	if s == "" || strings.IndexByte("+-*/%&.", s[0]) < 0 || startsComment(s) {
		return false
	}
	next := strings.TrimLeft(s[1:], " \t\r\n")
	return next != "" && (next[0] == '"' || next[0] == '\'' || len(next) < len(s)-1)
}
