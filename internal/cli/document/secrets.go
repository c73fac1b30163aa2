package document

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"sort"
	"strings"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// What a secret is and that it is never shown stands in docs/lumi.md. Commands that read a graph ask its values, with
// [lumigl.Value.Secret]. What is said of a text goes by [secretsIn].

// Masked replaces a secret's value in output.
const Masked = "(secret)"

// Secrets are the parts of a text that must not be shown: those signed as secrets, or all of it. They are in order and do
// not overlap.
type Secrets []secretPart

type secretPart struct {
	from, to int
	depth    int // how many objects and lists it is in
}

// All reports whether any part of the text may be a secret.
func (s Secrets) All() bool { return len(s) > 0 && s[0].depth == 0 }

// near returns the first secret that a part of the text overlaps or touches, or nil.
func (s Secrets) near(from, to int) *secretPart {
	i := sort.Search(len(s), func(i int) bool { return s[i].to >= from })
	if i < len(s) && s[i].from <= max(from, to) {
		return &s[i]
	}
	return nil
}

// cut removes from a JSON pointer the keys and indices in the secret.
func (s *secretPart) cut(pointer string) string {
	steps := strings.Split(pointer, "/") // of which the first is empty
	return strings.Join(steps[:min(len(steps), s.depth+1)], "/")
}

// quoteless are the faults whose messages and fixes quote no value, and no key but those of resources that there are.
var quoteless = map[lumigl.Code]bool{
	lumigl.UTF8Fault: true, lumigl.ByteOrderFault: true, lumigl.CommentFault: true, lumigl.ElisionFault: true,
	lumigl.TrailingCommaFault: true, lumigl.MissingCommaFault: true, lumigl.ExtraCommaFault: true, lumigl.BracketFault: true,
	lumigl.EmptyFault: true, lumigl.FormFault: true, lumigl.ConflictFault: true, lumigl.DepthFault: true, lumigl.SizeFault: true,
	lumigl.OrderFault: true, lumigl.CycleFault: true,
}

// unshown ends a message about what may be part of a secret.
const unshown = "; it may be part of a secret and is not shown"

// fault is a fault without what must not be shown.
func (s Secrets) fault(f lumigl.Fault) lumigl.Fault {
	in := s.near(f.Offset, f.End)
	if in == nil {
		return f
	}
	f.Pointer = in.cut(f.Pointer)
	if !quoteless[f.Code] {
		f.Message, f.Nearest, f.Fix = "this is invalid"+unshown, "", nil
	}
	return f
}

// Mask replaces the secrets in a text, with all that they hold.
func (s Secrets) Mask(src string) string {
	var b strings.Builder
	done := 0
	for _, secret := range s {
		b.WriteString(src[done:secret.from] + `"` + Masked + `"`)
		done = secret.to
	}
	return b.String() + src[done:]
}

// Withheld is what to do with a text that is not written to a terminal.
const Withheld = "redirect it to a file or program"

// Withhold holds that no text with secrets is written to a terminal.
func Withhold(con *console.Console, name, text, instead string) error {
	if con.Out.Terminal && len(SecretsIn(text)) > 0 {
		return fmt.Errorf("%s contains secrets, and standard output is a terminal; %s", name, instead)
	}
	return nil
}

// WithheldAll is for a text of which any part may be a secret.
func WithheldAll(src string) Secrets { return Secrets{{to: len(src)}} }

// SecretsIn finds the secrets in a text. Where one ends is known only in valid JSON, and other tools have secrets that are
// not signed. So other text with the signature, or with a key that OpenTofu uses, is withheld as a whole.
func SecretsIn(src string) Secrets {
	signed := IsSigned(src)
	foreign := strings.Contains(src, "terraform_version") || strings.Contains(src, "sensitive") && unsigned.MatchString(src)
	if !signed && !foreign {
		return nil
	}
	valid := json.Valid([]byte(src))
	switch {
	case valid && !isLumiGL(src), !valid && (signed || !wasLumiGL(src)):
		return WithheldAll(src)
	case !signed:
		return nil
	}
	return SignedIn(src)
}

// SignedIn returns the outermost objects and lists in valid JSON that have the signature of secrets in them.
func SignedIn(src string) Secrets {
	type object struct {
		secretPart
		signed bool
	}
	var found Secrets
	open := []object{{}} // the text as a whole, and what is not closed yet
	dec := json.NewDecoder(strings.NewReader(src))
	dec.UseNumber() // since others may be out of range
	for {
		token, err := dec.Token()
		if err != nil {
			return found
		}
		top, end := &open[len(open)-1], int(dec.InputOffset())
		switch token := token.(type) {
		case json.Delim:
			if token == '{' || token == '[' {
				open = append(open, object{secretPart: secretPart{from: end - 1, depth: len(open) - 1}})
				continue
			}
			if top.to = end; top.signed {
				for len(found) > 0 && found[len(found)-1].from > top.from {
					found = found[:len(found)-1]
				}
				found = append(found, top.secretPart)
			}
			open = open[:len(open)-1]
		case string:
			top.signed = top.signed || strings.Contains(token, wire.Secret)
		}
	}
}

// digit matches an escaped digit of a signature.
var digit = regexp.MustCompile(`\\u00(3[0-9]|6[1-6])`)

// IsSigned reports whether a text has the signature of secrets, perhaps with escapes or in UTF-16.
func IsSigned(src string) bool {
	src = strings.ReplaceAll(src, "\x00", "")
	if strings.Contains(src, `\u00`) {
		src = digit.ReplaceAllStringFunc(src, func(escape string) string {
			plain, _ := hex.DecodeString(strings.TrimPrefix(escape, `\u00`))
			return string(plain)
		})
	}
	return strings.Contains(src, wire.Secret)
}

// unsigned matches a key by which OpenTofu's state or output says what is secret, if at all.
var unsigned = regexp.MustCompile(`sensitive\w*[^\w,]*:`)

// isLumiGL reports whether valid JSON has a section of LumiGL at its top level, with objects only.
func isLumiGL(src string) bool {
	var top struct{ Resources, Vertices map[string]struct{} }
	return json.Unmarshal([]byte(src), &top) == nil && (top.Resources != nil || top.Vertices != nil)
}

// ours matches what only LumiGL has: a URN that is the key of an object, or vertices at the start.
var ours = regexp.MustCompile(`"urn:lumi:[^"\n]*"\s*:\s*\{|^\s*\{\s*"vertices"\s*:\s*\{\s*"([^"\n]*)"\s*:\s*\{`)

// wasLumiGL reports whether a text that is not valid JSON was meant as LumiGL. If it was not, it may be what OpenTofu
// prints, and then "vertices" is an output, an object with "value".
func wasLumiGL(src string) bool {
	found := ours.FindStringSubmatch(src)
	return len(found) > 0 && found[1] != "value"
}
