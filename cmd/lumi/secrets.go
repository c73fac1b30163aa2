package main

import (
	"slices"
	"sort"
	"strings"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/repair"
	lumi "github.com/lumi-idl/lumi/runtime"
)

// span is a part of a text.
type span struct{ from, to int }

// secrets are the parts of a text that must not be shown, in order: what is written in objects that are signed as
// secrets. They are found in any text, whatever is wrong with it.
type secrets []span

func (s secrets) has(offset int) bool {
	i := sort.Search(len(s), func(i int) bool { return s[i].to > offset })
	return i < len(s) && s[i].from <= offset
}

// starts reports whether a part that must not be shown begins at an offset.
func (s secrets) starts(offset int) bool { return s.has(offset) && (offset == 0 || !s.has(offset-1)) }

// fault is a fault without what must not be shown.
func (s secrets) fault(f lumigl.Fault) lumigl.Fault {
	if s.has(f.Offset) {
		f.Message = "what stands here is wrong; it belongs to a secret and is not shown"
		f.Nearest = ""
		if f.Fix != nil {
			fix := *f.Fix
			fix.Text = masked
			f.Fix = &fix
		}
	}
	return f
}

// steps are steps of a repair without what must not be shown.
func (s secrets) steps(steps []repair.Step) []repair.Step {
	shown := slices.Clone(steps)
	for i := range shown {
		if step := &shown[i]; step.Line > 0 && s.has(step.Offset) {
			step.Message = "mend what stands here; it belongs to a secret and is not shown"
			if step.Kind != repair.SyntaxStep {
				step.Message = "mend or drop the reference here; it belongs to a secret and is not shown"
			}
		}
	}
	return shown
}

// masked stands in place of a secret.
const masked = "[secret]"

// mask replaces what must not be shown in a text.
func (s secrets) mask(src string) string {
	if len(s) == 0 {
		return src
	}
	var b strings.Builder
	done := 0
	for _, hidden := range s {
		b.WriteString(src[done:hidden.from])
		b.WriteString(`"` + masked + `"`)
		done = hidden.to
	}
	b.WriteString(src[done:])
	return b.String()
}

// secretsIn finds the secrets in a text. It knows strings, words and brackets, and nothing of how they belong together.
func secretsIn(src string) secrets {
	if !strings.Contains(src, lumi.SecretSignature) {
		return nil
	}
	type object struct {
		first  int // of the tokens in it
		secret bool
	}
	var tokens, found secrets
	open := []object{{}}
	hidden := 0 // how many of the tokens have been found to be secret, or not
	leave := func() {
		top := open[len(open)-1]
		open = open[:len(open)-1]
		if top.secret {
			found = append(found, tokens[max(top.first, hidden):]...)
			hidden = len(tokens)
		}
	}
	for i := 0; i < len(src); {
		switch c := src[i]; {
		case c == '{' || c == '[':
			open = append(open, object{first: len(tokens)})
			i++
		case c == '}' || c == ']':
			if len(open) > 1 {
				leave()
			}
			i++
		case c == '"' || c == '\'':
			end := stringEnd(src, i)
			switch content := strings.Trim(src[i:end], `"'`); content {
			case lumi.SecretSignature:
				open[len(open)-1].secret = true
			case lumi.Signature, "value":
			default:
				tokens = append(tokens, span{i, end})
			}
			i = end
		case isWord(c):
			start := i
			for i < len(src) && isWord(src[i]) {
				i++
			}
			tokens = append(tokens, span{start, i})
		default:
			i++
		}
	}
	for len(open) > 0 {
		leave()
	}
	return found
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
