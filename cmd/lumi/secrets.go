package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/lumi-idl/lumi/internal/jsonpointer"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/repair"
	lumi "github.com/lumi-idl/lumi/runtime"
)

// What a secret is and that it is never shown stands in docs/lumi.md. Commands that read a graph ask its values, with
// [lumigl.Value.Secret]. What is said of a text that may not even be JSON goes by [secretsIn].

// masked stands in place of a secret.
const masked = "(secret)"

// span is a part of a text.
type span struct{ from, to int }

// secrets are the parts of a text that must not be shown. They are found in any text, whatever is wrong with it.
type secrets struct {
	src    string
	hidden []span // the words and strings in objects that are signed as secrets, in order
	within []signed
	inside map[string]bool // the words and strings as they would stand in a JSON pointer
	all    bool            // whether no line may be shown, and nothing quoted
}

// signed is an object that is signed as a secret, and is in no other one that is.
type signed struct {
	span
	depth int // how many objects and lists it is in
	// endless says that it is not JSON, so that nobody knows where it ends. All that follows counts as secret too.
	endless bool
}

// around returns the signed object that a part of the text has anything to do with, or nil.
func (s secrets) around(offset, end int) *signed {
	i := sort.Search(len(s.within), func(i int) bool { return s.within[i].to >= offset })
	if i < len(s.within) && s.within[i].from <= max(offset, end) {
		return &s.within[i]
	}
	return nil
}

// pointer is a JSON pointer without the keys in a secret, and whether there were any. In a text that is no JSON neither
// says for sure whether something is in a secret, the pointer or the place.
func (s secrets) pointer(pointer string, in *signed) (cut string, inside bool) {
	steps := strings.Split(pointer, "/") // of which the first is empty
	behind := false
	for i, step := range steps[1:] {
		if in != nil && i == in.depth || (in != nil || behind) && s.inside[step] || in != nil && in.endless && !s.before(in, step) {
			return strings.Join(steps[:i+1], "/"), true
		}
		behind = behind || step == "value"
	}
	return pointer, in != nil
}

// before reports whether a step of a pointer stands before a signed object, so that it is none that only a reader makes
// of what is in there.
func (s secrets) before(in *signed, step string) bool {
	return strings.Contains(s.src[:in.from], jsonpointer.Unescape(step))
}

// quoteless are the faults whose messages and fixes quote no value, and no key but those of resources that there are.
var quoteless = map[lumigl.Code]bool{
	lumigl.UTF8Fault: true, lumigl.ByteOrderFault: true, lumigl.CommentFault: true, lumigl.ElisionFault: true,
	lumigl.TrailingCommaFault: true, lumigl.MissingCommaFault: true, lumigl.ExtraCommaFault: true, lumigl.BracketFault: true,
	lumigl.EmptyFault: true, lumigl.ConflictFault: true, lumigl.DepthFault: true, lumigl.SizeFault: true,
	lumigl.OrderFault: true, lumigl.CycleFault: true,
}

// fault is a fault without what must not be shown.
func (s secrets) fault(f lumigl.Fault) lumigl.Fault {
	if s.all {
		f.Pointer, f.Notes, f.Nearest, f.Circle, f.Fix = "", nil, "", nil, nil
		switch {
		case f.Code == lumigl.DuplicateKeyFault:
			f.Message = "duplicate key; it is not shown, since it may belong to a secret"
		case !quoteless[f.Code]:
			f.Message = "this is invalid; it is not shown, since it may be a secret"
		}
		return f
	}
	pointer, inside := s.pointer(f.Pointer, s.around(f.Offset, f.End))
	f.Pointer = pointer
	if inside && !quoteless[f.Code] {
		f.Message = "what stands here is wrong; it may belong to a secret and is not shown"
		f.Nearest, f.Fix = "", nil
	}
	return f
}

// steps are steps of a repair without what must not be shown.
func (s secrets) steps(steps []repair.Step) []repair.Step {
	shown := slices.Clone(steps)
	for i := range shown {
		step := &shown[i]
		if step.Line == 0 {
			continue // It follows from others, and names no key but those of resources.
		}
		pointer, inside := s.pointer(step.Pointer, s.around(step.Offset, step.Offset))
		step.Pointer = pointer
		if !inside {
			continue
		}
		what := "drop the reference here"
		switch step.Kind {
		case repair.SyntaxStep:
			what = "repair the syntax here"
		case repair.RetargetStep:
			what = "point the reference here at what was probably meant"
		case repair.ResourceStep, repair.PendingStep:
			what = "drop " + step.Pointer + ", which holds the reference here"
		case repair.OrderStep:
			continue // Likewise.
		}
		step.Message = what + "; it may belong to a secret and is not shown"
	}
	return shown
}

// mask replaces what must not be shown in a text.
func (s secrets) mask(src string) string {
	if len(s.hidden) == 0 {
		return src
	}
	var b strings.Builder
	done := 0
	for _, hidden := range s.hidden {
		b.WriteString(src[done:hidden.from])
		b.WriteString(`"` + masked + `"`)
		done = hidden.to
	}
	b.WriteString(src[done:])
	return b.String()
}

// withheld is what to do with a text that is not written to a terminal.
const withheld = "send it to a file or a program"

// withhold holds that no text with secrets is written to a terminal.
func (e *environment) withhold(name, text, instead string) error {
	if e.out.Terminal && len(secretsIn(text).within) > 0 {
		return fmt.Errorf("%s has secrets, and standard output is a terminal; %s", name, instead)
	}
	return nil
}

// unsigned matches a key of OpenTofu's state or output, which says by paths or names, if at all, what is secret.
var unsigned = regexp.MustCompile(`terraform_version|sensitive\w*[^\w,]*:`)

// section matches what follows the key of a section of LumiGL: an object that is empty, or that has, perhaps after
// comments, an object first.
var section = regexp.MustCompile(
	`^\s*:\s*\{(\s*\}|(\s|(//|#).*\n|/\*(?s:.*?)\*/)*("[^"]*"|'[^']*'|\w+)\s*:\s*\{\s*["'}])`)

// withheldAll is for a text that is probably another tool's: any part of it may be a secret, and no line is shown.
func withheldAll(src string) secrets {
	all := span{0, len(src)}
	return secrets{src: src, all: true, hidden: []span{all}, within: []signed{{span: all}}}
}

// secretsIn finds the secrets in a text, which need not be valid JSON.
func secretsIn(src string) secrets {
	suspect := strings.Contains(src, "sensitive") || strings.Contains(src, "terraform_version")
	if !suspect && !strings.Contains(src, lumi.SecretSignature) && !strings.Contains(src, `\u00`) {
		return secrets{}
	}
	f := finder{src: src, open: []object{{}}, section: len(src) + 2}
	for i := 0; i < len(src); {
		start := i
		switch c := src[i]; {
		case c == '{' || c == '[':
			f.open = append(f.open, object{from: i})
			f.depth++
			i++
		case c == '}' || c == ']':
			i++
			f.depth--
			if f.closes(c) {
				f.leave(i)
				f.content()
			}
		case c == '"' || c == '\'':
			i = stringEnd(src, i)
			f.token(span{start, i})
		case isWord(c):
			for i < len(src) && isWord(src[i]) {
				i++
			}
			f.token(span{start, i})
		case c == '#', strings.HasPrefix(src[i:], "//"), strings.HasPrefix(src[i:], "/*"):
			i = commentEnd(src, i)
			f.token(span{start, i})
		case strings.IndexByte(" \t\r\n,:", c) >= 0:
			i++
		default: // It means nothing in JSON, and may be of a secret that is not written as it should be.
			i++
			f.token(span{start, i})
		}
	}
	for len(f.open) > 0 {
		f.leave(len(src))
	}
	if isLumiGL := f.section-f.depth <= 1; suspect && !isLumiGL && unsigned.MatchString(src) {
		return withheldAll(src)
	}
	return f.secrets()
}

// finder is the search for secrets in a text.
type finder struct {
	src    string
	open   []object // those that are not closed yet, and before them the text as a whole
	tokens []span
	within []signed // those that have been found
	depth  int      // opening brackets so far, less closing ones
	// section is the least depth of a section of LumiGL. It must be outermost counted from either end of the text: one
	// count alone may be wrong where brackets do not match.
	section int
}

// object is an object or a list that is looked into.
type object struct {
	from   int
	secret bool
	value  bool // whether the key was there that the secret stands behind
	full   bool // whether something stood behind that
}

// token looks at a string, a word or a single character.
func (f *finder) token(at span) {
	text := f.src[at.from:at.to]
	if strings.Contains(text, `\u`) {
		var plain string
		if json.Unmarshal([]byte(text), &plain) == nil {
			text = plain
		}
	}
	if strings.Contains(text, lumi.SecretSignature) {
		f.open[len(f.open)-1].secret = true
		if len(text) <= len(lumi.SecretSignature)+len(`""`) {
			return
		}
	}
	switch strings.Trim(text, `"'`) {
	case lumi.Signature:
		return
	case "resources", "vertices":
		if f.depth <= 1 && section.MatchString(f.src[at.to:]) {
			f.section = min(f.section, f.depth)
		}
	case "value":
		if f.isKey(at) {
			f.open[len(f.open)-1].value = true
			return
		}
	}
	f.content()
	f.tokens = append(f.tokens, at)
}

// isKey reports whether a colon stands behind a token.
func (f *finder) isKey(at span) bool {
	return strings.HasPrefix(strings.TrimLeft(f.src[at.to:min(len(f.src), at.to+8)], " \t\r\n"), ":")
}

// content notes that something stands in the innermost object.
func (f *finder) content() {
	top := &f.open[len(f.open)-1]
	top.full = top.full || top.value
}

// closes reports whether a bracket closes the innermost object or list. One that does not belong there does not end a
// secret, and neither does one that stands before the secret itself.
func (f *finder) closes(bracket byte) bool {
	top := f.open[len(f.open)-1]
	return len(f.open) > 1 && (!top.secret || bracket == '}' && top.full)
}

// leave goes on behind an object or a list.
func (f *finder) leave(to int) {
	top := f.open[len(f.open)-1]
	f.open = f.open[:len(f.open)-1]
	if !top.secret {
		return
	}
	for len(f.within) > 0 && f.within[len(f.within)-1].from >= top.from {
		f.within = f.within[:len(f.within)-1]
	}
	f.within = append(f.within, signed{span: span{top.from, to}, depth: max(0, len(f.open)-1)})
}

// trailingComma is one that does not make it doubtful where strings and objects end.
var trailingComma = regexp.MustCompile(`,(\s*[}\]])`)

// secrets are what was found. Where a signed object is not JSON, a bracket that seems to close it may stand in a string
// with a quote too many.
func (f *finder) secrets() secrets {
	for i, in := range f.within {
		if !json.Valid(trailingComma.ReplaceAll([]byte(f.src[in.from:in.to]), []byte("$1"))) {
			f.within = f.within[:i+1]
			f.within[i].to, f.within[i].endless = len(f.src), true
			break
		}
	}
	found := secrets{src: f.src, within: f.within, inside: map[string]bool{}}
	at := 0
	for _, in := range f.within {
		for at < len(f.tokens) && f.tokens[at].from < in.from {
			at++
		}
		for ; at < len(f.tokens) && f.tokens[at].from < in.to; at++ {
			found.inside[f.step(f.tokens[at])] = true
			last := len(found.hidden) - 1
			if last >= 0 && found.hidden[last].to == f.tokens[at].from {
				found.hidden[last].to = f.tokens[at].to // They stand in one place.
				continue
			}
			found.hidden = append(found.hidden, f.tokens[at])
		}
	}
	return found
}

// step is a token as it would stand in a JSON pointer.
func (f *finder) step(at span) string {
	text := f.src[at.from:at.to]
	if json.Unmarshal([]byte(text), &text) != nil {
		text = strings.Trim(text, `"'`)
	}
	return jsonpointer.Escape(text)
}

// stringEnd is where the string that begins at an offset ends, at the latest with its line.
func stringEnd(src string, offset int) int {
	for i := offset + 1; i < len(src); i++ {
		switch src[i] {
		case '\\':
			i++
		case '\n':
			return i
		case src[offset]:
			return i + 1
		}
	}
	return len(src)
}

// commentEnd is where the comment that begins at an offset ends.
func commentEnd(src string, offset int) int {
	rest, end, length := src[offset:], "\n", 0
	if strings.HasPrefix(rest, "/*") {
		end, length = "*/", 2
	}
	if i := strings.Index(rest[1:], end); i >= 0 {
		return offset + 1 + i + length
	}
	return len(src)
}
