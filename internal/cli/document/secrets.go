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

// Secrets, as defined in docs/lumi.md, are never shown. Commands that read a graph check [lumigl.Value.Secret].
// Messages that quote source text use [SecretsIn].

// Masked replaces the value of a secret in output.
const Masked = "(secret)"

// Secrets lists the parts of a text to hide: signed secrets, or the whole text. The parts are sorted and do not
// overlap.
type Secrets []secretPart

type secretPart struct {
	from, to int
	depth    int // the nesting depth in objects and lists
}

// All reports whether the whole text must be hidden.
func (s Secrets) All() bool { return len(s) > 0 && s[0].depth == 0 }

// near returns the first secret that overlaps or touches the given range, or nil if there is none.
func (s Secrets) near(from, to int) *secretPart {
	i := sort.Search(len(s), func(i int) bool { return s[i].to >= from })
	if i < len(s) && s[i].from <= max(from, to) {
		return &s[i]
	}
	return nil
}

// cut removes the keys and indices inside the secret from a JSON pointer.
func (s *secretPart) cut(pointer string) string {
	steps := strings.Split(pointer, "/") // the first step is empty
	return strings.Join(steps[:min(len(steps), s.depth+1)], "/")
}

// quoteless is the set of errors whose messages and fixes quote no values, and no keys other than those of existing
// resources.
var quoteless = map[lumigl.Code]bool{
	lumigl.UTF8Fault: true, lumigl.ByteOrderFault: true, lumigl.CommentFault: true, lumigl.ElisionFault: true,
	lumigl.TrailingCommaFault: true, lumigl.MissingCommaFault: true, lumigl.ExtraCommaFault: true, lumigl.BracketFault: true,
	lumigl.EmptyFault: true, lumigl.FormFault: true, lumigl.ConflictFault: true, lumigl.DepthFault: true, lumigl.SizeFault: true,
	lumigl.OrderFault: true, lumigl.CycleFault: true,
}

// unshown is the suffix of messages that omit a possible secret.
const unshown = "; it may be part of a secret and is not shown"

// fault returns f without any secrets.
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

// Mask returns src with each secret, including nested values, replaced by [Masked].
func (s Secrets) Mask(src string) string {
	var b strings.Builder
	done := 0
	for _, secret := range s {
		b.WriteString(src[done:secret.from] + `"` + Masked + `"`)
		done = secret.to
	}
	return b.String() + src[done:]
}

// Withheld is the advice for output that must not be written to a terminal.
const Withheld = "redirect it to a file or program"

// Withhold returns an error if standard output is a terminal and text contains secrets.
func Withhold(con *console.Console, name, text, instead string) error {
	if con.Out.Terminal && len(SecretsIn(text)) > 0 {
		return fmt.Errorf("%s contains secrets, and standard output is a terminal; %s", name, instead)
	}
	return nil
}

// WithheldAll returns Secrets that hide the whole text.
func WithheldAll(src string) Secrets { return Secrets{{to: len(src)}} }

// SecretsIn finds the secrets in a text. The end of a secret is certain only in valid JSON, and secrets of other tools
// are not signed. Any other text that contains the signature, or a key by which OpenTofu marks secrets, is therefore
// hidden as a whole.
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

// SignedIn returns the outermost objects and lists that contain the signature of secrets. The text must be valid JSON.
func SignedIn(src string) Secrets {
	type object struct {
		secretPart
		signed bool
	}
	var found Secrets
	open := []object{{}} // the whole text, followed by the unclosed containers
	dec := json.NewDecoder(strings.NewReader(src))
	dec.UseNumber() // numbers may exceed the range of float64
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

// digit matches an escaped digit of the signature.
var digit = regexp.MustCompile(`\\u00(3[0-9]|6[1-6])`)

// IsSigned reports whether a text contains the signature of secrets, even if it is escaped or in UTF-16.
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

// unsigned matches the keys that mark secrets in the state or output of OpenTofu.
var unsigned = regexp.MustCompile(`sensitive\w*[^\w,]*:`)

// isLumiGL reports whether valid JSON has a top-level LumiGL section that contains only objects.
func isLumiGL(src string) bool {
	var top struct{ Resources, Vertices map[string]struct{} }
	return json.Unmarshal([]byte(src), &top) == nil && (top.Resources != nil || top.Vertices != nil)
}

// ours matches text that occurs only in LumiGL: a URN as the key of an object, or "vertices" as the first key.
var ours = regexp.MustCompile(`"urn:lumi:[^"\n]*"\s*:\s*\{|^\s*\{\s*"vertices"\s*:\s*\{\s*"([^"\n]*)"\s*:\s*\{`)

// wasLumiGL reports whether invalid JSON was intended as LumiGL. The output of OpenTofu may also start with "vertices",
// as the name of an output value, but then contains the key "value".
func wasLumiGL(src string) bool {
	found := ours.FindStringSubmatch(src)
	return len(found) > 0 && found[1] != "value"
}
