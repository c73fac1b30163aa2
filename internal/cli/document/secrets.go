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

// Secrets are defined in docs/lumi.md and never shown. Commands that read a graph use [lumigl.Value.Secret]; messages that
// quote source text use [SecretsIn].

// Masked replaces a secret's value in output.
const Masked = "(secret)"

// Secrets lists the parts of a text to hide: signed secrets, or the entire text. They are sorted and do not overlap.
type Secrets []secretPart

type secretPart struct {
	from, to int
	depth    int // nesting depth in objects and lists
}

// All reports whether any part of the text may be a secret.
func (s Secrets) All() bool { return len(s) > 0 && s[0].depth == 0 }

// near returns the first secret that overlaps or touches a range, or nil.
func (s Secrets) near(from, to int) *secretPart {
	i := sort.Search(len(s), func(i int) bool { return s[i].to >= from })
	if i < len(s) && s[i].from <= max(from, to) {
		return &s[i]
	}
	return nil
}

// cut removes the keys and indices inside the secret from a JSON pointer.
func (s *secretPart) cut(pointer string) string {
	steps := strings.Split(pointer, "/") // the first is empty
	return strings.Join(steps[:min(len(steps), s.depth+1)], "/")
}

// quoteless lists the errors whose messages and fixes quote no values, and no keys except those of existing resources.
var quoteless = map[lumigl.Code]bool{
	lumigl.UTF8Fault: true, lumigl.ByteOrderFault: true, lumigl.CommentFault: true, lumigl.ElisionFault: true,
	lumigl.TrailingCommaFault: true, lumigl.MissingCommaFault: true, lumigl.ExtraCommaFault: true, lumigl.BracketFault: true,
	lumigl.EmptyFault: true, lumigl.FormFault: true, lumigl.ConflictFault: true, lumigl.DepthFault: true, lumigl.SizeFault: true,
	lumigl.OrderFault: true, lumigl.CycleFault: true,
}

// unshown is the suffix of messages that omit a possible secret.
const unshown = "; it may be part of a secret and is not shown"

// fault returns an error with secrets removed.
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

// Mask replaces the secrets in a text, including nested values.
func (s Secrets) Mask(src string) string {
	var b strings.Builder
	done := 0
	for _, secret := range s {
		b.WriteString(src[done:secret.from] + `"` + Masked + `"`)
		done = secret.to
	}
	return b.String() + src[done:]
}

// Withheld is advice on output that is not written to a terminal.
const Withheld = "redirect it to a file or program"

// Withhold returns an error if text with secrets would be written to a terminal.
func Withhold(con *console.Console, name, text, instead string) error {
	if con.Out.Terminal && len(SecretsIn(text)) > 0 {
		return fmt.Errorf("%s contains secrets, and standard output is a terminal; %s", name, instead)
	}
	return nil
}

// WithheldAll marks an entire text as a possible secret.
func WithheldAll(src string) Secrets { return Secrets{{to: len(src)}} }

// SecretsIn finds the secrets in a text. Since the end of a secret is certain only in valid JSON, and other tools have
// unsigned secrets, other text with the signature or with a secret-marking key of OpenTofu is withheld entirely.
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

// SignedIn returns the outermost objects and lists in valid JSON that contain the signature of secrets.
func SignedIn(src string) Secrets {
	type object struct {
		secretPart
		signed bool
	}
	var found Secrets
	open := []object{{}} // the whole text, then unclosed containers
	dec := json.NewDecoder(strings.NewReader(src))
	dec.UseNumber() // others may be out of range
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

// IsSigned reports whether a text contains the signature of secrets, possibly escaped or in UTF-16.
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

// unsigned matches keys that mark secrets in the state or output of OpenTofu.
var unsigned = regexp.MustCompile(`sensitive\w*[^\w,]*:`)

// isLumiGL reports whether valid JSON has a top-level section of LumiGL that contains only objects.
func isLumiGL(src string) bool {
	var top struct{ Resources, Vertices map[string]struct{} }
	return json.Unmarshal([]byte(src), &top) == nil && (top.Resources != nil || top.Vertices != nil)
}

// ours matches text that occurs only in LumiGL: a URN as the key of an object, or vertices at the start.
var ours = regexp.MustCompile(`"urn:lumi:[^"\n]*"\s*:\s*\{|^\s*\{\s*"vertices"\s*:\s*\{\s*"([^"\n]*)"\s*:\s*\{`)

// wasLumiGL reports whether invalid JSON was intended as LumiGL. OpenTofu's output, in contrast, may have an output
// named "vertices", an object with "value".
func wasLumiGL(src string) bool {
	found := ours.FindStringSubmatch(src)
	return len(found) > 0 && found[1] != "value"
}
