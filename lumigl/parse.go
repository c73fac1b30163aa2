package lumigl

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// parser reads JSON into values. It goes on after a fault, with what was most likely meant, so that it finds all of
// them. Strings without escapes share the memory of the source.
type parser struct {
	src    string
	pos    int
	faults *faults
	path   path
	depth  int // how many more levels there may be
	memory slabs
	// elements and members are stacks of what lists and objects that are not finished yet have so far.
	elements []Value
	members  []Member
	// elided says that a part of the file was left out, so that what is missing elsewhere may be there.
	elided bool
	// broken says that brackets do not match, so that nothing can be said about what is inside of what.
	broken bool
}

// document reads a whole file.
func (p *parser) document() Value {
	if rest, ok := strings.CutPrefix(p.src, "\ufeff"); ok {
		p.fix(ByteOrderFault, 0, len(p.src)-len(rest), "", "remove it", "the file starts with a byte order mark")
		p.pos = len(p.src) - len(rest)
	}
	if !utf8.ValidString(p.src) {
		p.invalidUTF8()
	}
	p.space()
	if p.pos == len(p.src) {
		p.fault(EmptyFault, 0, 0, "the file is empty")
		p.broken = true
		return Value{}
	}
	v := p.value()
	p.space()
	if p.pos < len(p.src) {
		p.fault(AfterEndFault, p.pos, len(p.src), "there is more behind the end of the document: %s", p.found())
		p.broken = true
	}
	return v
}

func (p *parser) invalidUTF8() {
	for i := 0; i < len(p.src); {
		r, n := utf8.DecodeRuneInString(p.src[i:])
		if r == utf8.RuneError && n == 1 && !p.fault(UTF8Fault, i, i+1, "the byte 0x%02X is not UTF-8", p.src[i]) {
			return
		}
		i += n
	}
}

// value reads a value. The caller has skipped the space before it. If there is none, it is absent, and nothing is read.
func (p *parser) value() Value {
	start := p.pos
	if start == len(p.src) {
		return Value{}
	}
	v := Value{offset: uint32(start)}
	switch c := p.src[start]; {
	case c == '"':
		v.kind, v.text = Text, p.text()
	case c == '{':
		v.kind, v.node = Object, p.object()
	case c == '[':
		v.kind, v.node = List, p.list()
	case c == '-' || '0' <= c && c <= '9':
		v.kind, v.text = Number, p.number()
	default:
		return p.word(v)
	}
	return v
}

// list reads a list.
func (p *parser) list() *node {
	open := p.pos
	if !p.enter() {
		return &node{}
	}
	first := len(p.elements)
	p.path = append(p.path, step{})
	for s := (sequence{parser: p, open: open, close: ']', end: open + 1}); s.next(); {
		p.path[len(p.path)-1].index = len(p.elements) - first
		if v := p.value(); v.Exists() {
			p.elements = append(p.elements, v)
			s.took()
		} else {
			s.skip("a value")
		}
	}
	p.leave()
	n := p.memory.node()
	n.elements = p.memory.elements(p.elements[first:])
	p.elements = p.elements[:first]
	return n
}

// object reads an object.
func (p *parser) object() *node {
	open := p.pos
	if !p.enter() {
		return &node{}
	}
	first := len(p.members)
	p.path = append(p.path, step{index: noStep})
	for s := (sequence{parser: p, open: open, close: '}', end: open + 1}); s.next(); {
		start := p.pos
		key, ok := p.key()
		if !ok {
			s.skip(`a key in double quotes, or "}"`)
			continue
		}
		p.path[len(p.path)-1] = step{key: key, index: -1}
		p.colon()
		v := p.value()
		if !v.Exists() {
			p.fault(UnexpectedFault, p.pos, p.pos, "expected a value for %q, found %s", clip(key), p.found())
		}
		p.members = append(p.members, Member{Key: key, Value: v, offset: uint32(start)})
		s.took()
	}
	p.duplicates(p.members[first:])
	p.leave()
	n := p.memory.node()
	n.members = p.memory.members(p.members[first:])
	p.members = p.members[:first]
	return n
}

// enter steps over an opening bracket. It reports false where the nesting is too deep; then nothing is read any more.
func (p *parser) enter() bool {
	if p.depth == 0 {
		p.fault(DepthFault, p.pos, p.pos+1, "the nesting is too deep")
		p.broken = true
		p.pos = len(p.src)
		return false
	}
	p.depth--
	p.pos++
	return true
}

func (p *parser) leave() {
	p.depth++
	p.path = p.path[:len(p.path)-1]
}

// key reads a key, also if its quotes are not as they should be.
func (p *parser) key() (string, bool) {
	start := p.pos
	switch c := p.src[start]; {
	case c == '"':
		return p.text(), true
	case c == '\'':
		return p.singleQuoted(), true
	}
	n := wordEnd(p.src[start:])
	if n == 0 {
		return "", false
	}
	p.pos += n
	word := p.src[start:p.pos]
	p.fix(KeyFault, start, p.pos, quote(word), "put it in double quotes", "the key %s has no quotes", clip(word))
	return word, true
}

// colon reads the colon between key and value, and the space around it.
func (p *parser) colon() {
	end := p.pos
	if p.pos < len(p.src) && p.src[p.pos] != ':' {
		p.space()
	}
	switch {
	case p.at(':'):
		p.pos++
	case p.at('='):
		p.fix(MissingColon, p.pos, p.pos+1, ":", `write ":"`, `expected ":" behind the key, found "="`)
		p.pos++
	default:
		p.fix(MissingColon, end, end, ":", "insert a colon", `expected ":" behind the key`)
	}
	if p.at(' ') {
		p.pos++
	}
	p.space()
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
	p.fault(NumberFault, start, p.pos, "%s is not a JSON number", clip(literal))
	return "0"
}

// word reads true, false and null, and what people write in place of JSON.
func (p *parser) word(v Value) Value {
	start := p.pos
	if p.src[start] == '\'' {
		v.kind, v.text = Text, p.singleQuoted()
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
		v.kind = Null
		p.badWord(start, word)
	}
	return v
}

func (p *parser) badWord(start int, word string) {
	for _, right := range []string{"true", "false", "null"} {
		if strings.EqualFold(word, right) {
			p.fix(LiteralFault, start, p.pos, right, "write "+right, "%s is not JSON; it is spelled %s", word, right)
			return
		}
	}
	switch word {
	case "None", "nil", "undefined":
		p.fix(LiteralFault, start, p.pos, "null", "write null", "%s is not JSON; it is spelled null", word)
	case "NaN", "Infinity":
		p.fault(LiteralFault, start, p.pos, "%s is not JSON; there is no such number", word)
	default:
		p.fault(LiteralFault, start, p.pos, "%s is not JSON; is it a string without quotes?", clip(word))
	}
}

// duplicates finds keys that an object has twice.
func (p *parser) duplicates(members []Member) {
	const few = 12
	if len(members) <= few {
		for i := 1; i < len(members); i++ {
			for j := range i {
				if members[i].Key == members[j].Key {
					p.duplicate(members[j], members[i])
					break
				}
			}
		}
		return
	}
	seen := make(map[string]int, len(members))
	for i, m := range members {
		if first, ok := seen[m.Key]; ok {
			p.duplicate(members[first], m)
			continue
		}
		seen[m.Key] = i
	}
}

func (p *parser) duplicate(first, again Member) {
	p.path[len(p.path)-1] = step{key: again.Key, index: -1}
	p.faults.add(Fault{
		Code: DuplicateKeyFault, Offset: int(again.offset), End: int(again.offset), Pointer: p.path.pointer(),
		Message: fmt.Sprintf("the key %q is there already", clip(again.Key)),
		Notes:   []Note{{Offset: int(first.offset), Message: "it is first here"}},
	})
}

// fault notes what is wrong, and reports whether to go on. When there are too many faults, the file counts as read.
func (p *parser) fault(code Code, start, end int, format string, args ...any) bool {
	return p.report(Fault{Code: code, Offset: start, End: end, Message: fmt.Sprintf(format, args...)})
}

// fix notes what is wrong and can be mended by one replacement.
func (p *parser) fix(code Code, start, end int, text, remedy, format string, args ...any) {
	p.report(Fault{
		Code: code, Offset: start, End: end, Message: fmt.Sprintf(format, args...),
		Fix: &Fix{Offset: start, End: end, Text: text, Message: remedy},
	})
}

func (p *parser) report(f Fault) bool {
	f.Pointer = p.path.pointer()
	if p.faults.add(f) {
		return true
	}
	p.broken = true
	p.pos = len(p.src)
	return false
}

func (p *parser) at(c byte) bool { return p.pos < len(p.src) && p.src[p.pos] == c }

// found says what stands where the parser is.
func (p *parser) found() string {
	if p.pos >= len(p.src) {
		return "the end of the file"
	}
	rest := p.src[p.pos:]
	if n := wordEnd(rest); n > 0 {
		return clip(rest[:n])
	}
	_, n := utf8.DecodeRuneInString(rest)
	return fmt.Sprintf("%q", rest[:n])
}

// clip shortens a text from the file so that it fits into a message.
func clip(s string) string {
	const most = 120
	if len(s) <= most {
		return s
	}
	s = s[:most]
	for !utf8.ValidString(s) && len(s) > most-utf8.UTFMax {
		s = s[:len(s)-1]
	}
	return s + "…"
}

// wordEnd returns the length of the word that s starts with: letters, digits, and what else stands in names.
func wordEnd(s string) int {
	n := 0
	for n < len(s) && isWordByte(s[n]) {
		n++
	}
	return n
}

func isWordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		c == '_' || c == '$' || c == '-' || c == '+' || c == '.' || c >= utf8.RuneSelf
}
