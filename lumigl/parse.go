package lumigl

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// document parses the whole file and returns the top-level value.
func (p *parser) document() Value {
	if rest, ok := strings.CutPrefix(p.src, "\ufeff"); ok {
		p.pos = len(p.src) - len(rest)
		p.fix(ByteOrderFault, 0, p.pos, "", "remove the byte order mark", "byte order mark at the start of the file")
	}
	if !utf8.ValidString(p.src) || p.isUTF16() {
		p.invalidUTF8()
	}
	p.space()
	if p.pos >= len(p.src) {
		p.fail(Fault{Code: EmptyFault, Message: "the file is empty"})
		return Value{}
	}
	v := p.value()
	end := p.pos
	p.space()
	switch {
	case p.pos >= len(p.src):
	case !v.Exists():
		p.unexpected("a JSON value")
	default:
		_, last := utf8.DecodeLastRuneInString(p.src[:end])
		p.fail(Fault{
			Code: AfterEndFault, Offset: p.pos, End: len(p.src),
			Message: "expected the end of the file, found " + p.found(),
			Notes:   []Note{{Offset: end - last, Message: "the document ends here"}},
		})
	}
	return v
}

// isUTF16 reports whether the file appears to be UTF-16.
func (p *parser) isUTF16() bool {
	return strings.HasPrefix(p.src, "\xff\xfe") || strings.HasPrefix(p.src, "\xfe\xff") ||
		strings.HasPrefix(p.src, "{\x00") || strings.HasPrefix(p.src, "\x00{")
}

// invalidUTF8 reports invalid UTF-8 and stops the parser.
func (p *parser) invalidUTF8() {
	defer p.stop()
	switch {
	case p.isUTF16():
		p.fault(UTF8Fault, 0, 2, "the file is in UTF-16; save it as UTF-8")
		return
	case strings.IndexByte(p.src[:min(len(p.src), 8000)], 0) >= 0:
		p.fault(UTF8Fault, 0, 0, "the file is not text; LumiGL is JSON, in UTF-8")
		return
	}
	for i := 0; i < len(p.src); {
		r, n := utf8.DecodeRuneInString(p.src[i:])
		if r == utf8.RuneError && n == 1 && !p.fault(UTF8Fault, i, i+1, "the byte 0x%02X is not UTF-8", p.src[i]) {
			return
		}
		i += n
	}
}

// value parses a value. Leading space must have been skipped. If no value starts at the current position, it returns
// the absent Value and consumes nothing.
func (p *parser) value() Value {
	start := p.pos
	if start >= len(p.src) {
		return Value{}
	}
	if !p.another() {
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
		return p.number(v)
	default:
		return p.word(v)
	}
	return v
}

// another increments the number of values and reports whether it is within the limit.
func (p *parser) another() bool {
	if p.values++; p.values <= p.most {
		return true
	}
	p.fail(Fault{
		Code: SizeFault, Offset: p.pos, End: p.pos + 1,
		Message: fmt.Sprintf("too many values; the maximum in a file is %d", p.most),
	})
	return false
}

// nothing is the shared node of all empty lists and objects. It must not be modified.
var nothing node

func (p *parser) list() *node {
	open := p.pos
	if !p.enter() {
		return &nothing
	}
	first := len(p.elements)
	p.path = append(p.path, step{})
	for s := (sequence{parser: p, open: open, close: ']', end: open + 1}); s.next(); {
		p.path[len(p.path)-1].index = len(p.elements) - first
		if v := p.value(); v.Exists() {
			p.elements = append(p.elements, v)
			s.took(v)
		} else {
			p.unexpected(`a value or "]"`)
		}
	}
	p.leave()
	n := &nothing
	if len(p.elements) > first {
		n = p.memory.copy(node{elements: p.elements[first:]})
		p.elements = p.elements[:first]
	}
	return n
}

func (p *parser) object() *node {
	first := len(p.members)
	p.inside()
	n := &nothing
	if len(p.members) > first {
		n = p.memory.copy(node{members: p.members[first:]})
		p.members = p.members[:first]
	}
	return n
}

// inside parses the members of an object and pushes them onto the stack.
func (p *parser) inside() {
	open, first := p.pos, len(p.members)
	if !p.enter() {
		return
	}
	p.path = append(p.path, step{index: noStep})
	for s := (sequence{parser: p, open: open, close: '}', end: open + 1}); s.next(); {
		s.member()
	}
	duplicates(p.members[first:], p.duplicate)
	p.leave()
}

// vertex adds a vertex to the graph as it is parsed. It returns false and consumes nothing if there is no object at the
// current position or vertices are not being streamed.
func (p *parser) vertex(start int, key string) bool {
	if len(p.path) != 2 || !p.at('{') || !p.graph.startStreaming(p.path[0].key, p.members) {
		return false
	}
	m := Member{Key: key, offset: uint32(start), Value: Value{kind: Object, offset: uint32(p.pos)}}
	if !p.another() {
		return true
	}
	first := len(p.members)
	if p.graph.snapshot == nil {
		m.Value.node = p.object()
	} else {
		p.inside()
		p.resource.members = p.members[first:] // only the values are needed
		m.Value.node = &p.resource
	}
	if p.graph.vertex(&m); p.faults.full() {
		p.stop()
	}
	p.members = p.members[:first]
	return true
}

// tooDeep is the message for excessive nesting.
const tooDeep = "lists and objects are nested deeper than %d levels"

// enter consumes an opening bracket. It returns false and stops the parser if the nesting is too deep.
func (p *parser) enter() bool {
	if p.depth == p.levels {
		p.fail(Fault{Code: DepthFault, Offset: p.pos, End: p.pos + 1, Message: fmt.Sprintf(tooDeep, p.levels)})
		return false
	}
	p.depth++
	p.pos++
	return true
}

func (p *parser) leave() {
	p.depth--
	p.path = p.path[:len(p.path)-1]
}

func (p *parser) duplicate(first, again Member) {
	if p.faults.full() {
		return
	}
	p.path[len(p.path)-1] = step{key: again.Key, index: -1}
	p.faults.add(Fault{
		Code: DuplicateKeyFault, Offset: int(again.offset), End: wholeToken, Pointer: p.path.pointer(),
		Message: fmt.Sprintf("duplicate key %q", clip(again.Key)),
		Notes:   []Note{{Offset: int(first.offset), Message: "first used here"}},
	})
}

// fault records an error and reports whether parsing can continue; too many errors stop the parser.
func (p *parser) fault(code Code, start, end int, format string, args ...any) bool {
	return p.report(Fault{Code: code, Offset: start, End: end, Message: fmt.Sprintf(format, args...)})
}

// fix records an error together with its fix.
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
	p.stop()
	return false
}

// fail records an error that the parser cannot recover from and stops it.
func (p *parser) fail(f Fault) {
	if p.stopped {
		return
	}
	if message := conflict(p.src, p.pos); message != "" {
		f = Fault{Code: ConflictFault, Offset: p.pos, End: p.pos + len(firstLine(p.src[p.pos:])), Message: message}
	}
	p.report(f)
	p.stop()
}

// unexpected reports an unexpected token. At the end of the file, it does nothing, since the missing bracket is
// reported.
func (p *parser) unexpected(expected string) {
	if p.pos < len(p.src) {
		message := "expected " + expected + ", found " + p.found()
		p.fail(Fault{Code: UnexpectedFault, Offset: p.pos, End: p.pos + max(1, wordEnd(p.src[p.pos:])), Message: message})
	}
}

// conflict returns a message if a line at the given offset is a merge conflict marker, or else "".
func conflict(src string, at int) string {
	if at > 0 && src[at-1] != '\n' {
		return ""
	}
	line := firstLine(src[at:])
	for _, marker := range [...]string{"<<<<<<<", "|||||||", "=======", ">>>>>>>"} {
		ours, ok := strings.CutPrefix(line, marker)
		if !ok || ours != "" && ours[0] != ' ' {
			continue
		}
		const end = "\n>>>>>>> "
		if i := strings.Index(src[at:], end); marker == "<<<<<<<" && ours != "" && i >= 0 {
			return fmt.Sprintf("unresolved merge conflict between %q and %q; keep one side or both, and remove the markers",
				clip(ours[1:]), clip(firstLine(src[at+i+len(end):])))
		}
		return "unresolved merge conflict; keep one side or both, and remove the markers"
	}
	return ""
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return strings.TrimSuffix(line, "\r")
}

// stop skips the rest of the file.
func (p *parser) stop() { p.stopped, p.pos = true, len(p.src) }

// moveTo sets the position to i unless the parser has stopped.
func (p *parser) moveTo(i int) {
	if !p.stopped {
		p.pos = i
	}
}

func (p *parser) at(c byte) bool { return p.pos < len(p.src) && p.src[p.pos] == c }

// found returns a description of the next token.
func (p *parser) found() string {
	rest := p.src[p.pos:]
	if n := wordEnd(rest); n > 0 {
		return shown(rest[:n])
	}
	_, n := utf8.DecodeRuneInString(rest)
	return strconv.Quote(rest[:n])
}
