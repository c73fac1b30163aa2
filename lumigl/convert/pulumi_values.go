package convert

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// Signatures specific to Pulumi.
const (
	resourceSignature = "5cf8f73096256a8f31e491e813e4eb8e"
	outputSignature   = "d0e6a833031e9bbcd3f4e8bde6ca49a4"
	floatSignature    = "8ad145fe-0d11-4827-bfd7-1abcbf086f5c"
	bytesSignature    = "803fd3297a5875dc03ca845dda5d2a98"
)

// unknowns is the set of Pulumi's placeholders for unknown values of each kind.
var unknowns = map[string]bool{
	"1c4a061d-8072-4f0a-a4cb-0ff528b18fe7": true, // boolean
	"3eeb2bf0-c639-47a8-9e75-3b44932eb421": true, // number
	wire.Unknown:                           true, // string
	"6a19a0b0-7e62-4c92-b797-7f8e31da9cc2": true, // list
	"030794c1-ac77-496b-92df-f27374a8bd58": true, // asset
	"e48ece36-62e2-4504-bad9-02848725956a": true, // archive
	"dd056dcd-154b-4c76-9bd3-c8f88648b5ff": true, // object
}

func (p *pulumi) value(s *source, d *draft) lumigl.Value {
	special := func(v lumigl.Value) bool {
		text, _ := v.Text()
		return unknowns[text] || isSpecial(v)
	}
	if !has(s.value, special) {
		return s.take()
	}
	return p.walk(s, d)
}

func (p *pulumi) walk(s *source, d *draft) lumigl.Value {
	return s.walk(func(s *source) (lumigl.Value, bool) {
		if isSpecial(s.value) {
			return p.special(s, d), true
		}
		if text, _ := s.value.Text(); unknowns[text] {
			s.lose(UnknownValueLoss, "kept as an unknown value")
			return lumigl.TextOf(wire.Unknown), true
		}
		return lumigl.Value{}, false
	})
}

// special converts an object with a signature.
func (p *pulumi) special(s *source, d *draft) lumigl.Value {
	switch signature := s.key(wire.Signature).text(); signature {
	case wire.Secret:
		return p.secret(s, d)
	case wire.Asset, wire.Archive:
		return p.asset(s, d, signature)
	case resourceSignature:
		return p.resource(s, d)
	case outputSignature:
		return p.output(s, d)
	case floatSignature:
		return float(s)
	case bytesSignature:
		return bytes(s)
	default:
		s.note(SignatureLoss, "kept as an object: unknown kind of special value")
		return s.take()
	}
}

// secret converts a secret. Losses never reveal its content.
func (p *pulumi) secret(s *source, d *draft) lumigl.Value {
	text, plain := s.key("plaintext"), s.key("value")
	switch {
	case plain.exists():
		return secret(p.walk(plain, d))
	case text.value.Kind() == lumigl.Text:
		json := text.text()
		v, err := lumigl.Parser{MaxDepth: max(1, maxDepth-text.depth)}.ParseValue(json)
		if err != nil {
			text.note(SignatureLoss, "kept as a string: the plaintext of a secret must be JSON; this is invalid or nested too deep")
			return secret(lumigl.TextOf(json))
		}
		return secret(p.walk(text.within(v), d))
	case s.key("ciphertext").exists():
		s.key("ciphertext").lose(CiphertextLoss,
			"replaced with a secret without a value, because it is encrypted; 'pulumi stack export --show-secrets' decrypts it")
	default:
		s.note(SignatureLoss, "replaced with a secret without a value: it has neither plaintext nor ciphertext")
	}
	return secret(lumigl.NullValue())
}

// asset converts an asset or archive. Besides its signature, it has one key, which determines the kind of content.
func (p *pulumi) asset(s *source, d *draft, signature string) lumigl.Value {
	content := lumigl.Member{Key: "text", Value: lumigl.TextOf("")}
	if signature == wire.Archive {
		content = lumigl.Member{Key: "assets", Value: lumigl.ObjectOf()}
	}
	found := false
	for _, key := range []string{"text", "path", "uri", "assets"} {
		switch part := s.key(key); {
		case found: // lost like any other key
		case part.nonzero():
			found, content = true, lumigl.Member{Key: key, Value: p.walk(part, d)}
		default:
			found = key == content.Key && part.exists()
			part.take()
		}
	}
	switch hash := s.key("hash"); {
	case !hash.nonzero():
		hash.take()
	case found || hash.value.Equal(hashOfNothing):
		hash.lose(AssetHashLoss, "dropped: an asset is identified by the location of its content")
	default:
		hash.lose(ContentLoss, "dropped, leaving the content empty: the stack has only a hash of the content, not its location")
	}
	return signed(signature, content)
}

// hashOfNothing is the hash of the empty text. Stacks omit such text.
var hashOfNothing = func() lumigl.Value {
	sum := sha256.Sum256(nil)
	return lumigl.TextOf(hex.EncodeToString(sum[:]))
}()

// resource converts a reference to another resource.
func (p *pulumi) resource(s *source, d *draft) lumigl.Value {
	key := s.key("urn").text()
	s.key("packageVersion").loseUnlessZero(PackageVersionLoss,
		"dropped: references to resources have no package version")
	to := p.find(key, d)
	id := s.key("id")
	text, _ := id.value.Text()
	switch {
	case !id.nonzero() || unknowns[text] || to != nil && to.said.key("id").value.Equal(id.value):
		id.take()
	case to != nil:
		id.lose(ReferenceIDLoss, "dropped: the id of the resource has changed; the reference uses the current one")
	default:
		id.lose(ReferenceIDLoss, "dropped: the reference is dangling, so only its URN is kept")
	}
	if to == nil {
		s.key("urn").or(s).note(DanglingLoss, "%s: no resource has this URN", keptAs(""))
		return lumigl.TextOf(key)
	}
	p.references = append(p.references, explicit{from: d, to: to, said: s.key("urn")})
	return lumigl.ReferenceTo(to.Vertex)
}

// output converts a value that is wrapped together with its dependencies.
func (p *pulumi) output(s *source, d *draft) lumigl.Value {
	known, value := s.key("known"), s.key("value")
	isKnown := known.flag() || !known.exists() && value.value.Exists()
	v := lumigl.TextOf(wire.Unknown)
	if isKnown && value.value.Exists() {
		v = p.walk(value, d)
	} else if !isKnown {
		s.note(UnknownValueLoss, "kept as an unknown value")
	}
	if s.key("secret").flag() {
		v = secret(v)
	}
	s.key("dependencies").loseUnlessZero(OutputLoss, "the value is kept without its dependencies")
	return v
}

// float converts a number encoded as the hexadecimal digits of its bits. NaN and infinities become strings.
func float(special *source) lumigl.Value {
	s := special.key("value")
	text := s.text()
	bits, err := strconv.ParseUint(text, 16, 64)
	v, ok := lumigl.FloatOf(math.Float64frombits(bits))
	switch {
	case err != nil:
		s.or(special).note(SignatureLoss, "kept as a string: expected the bits of a number in hexadecimal")
		return lumigl.TextOf(text)
	case ok:
		return v
	}
	s.note(NumberLoss, "kept as a string: JSON has no NaN or infinity")
	return lumigl.TextOf(strconv.FormatFloat(math.Float64frombits(bits), 'g', -1, 64))
}

// bytes converts a string that is base64-encoded because it is not UTF-8.
func bytes(special *source) lumigl.Value {
	s := special.key("value")
	text := s.text()
	switch raw, err := base64.StdEncoding.DecodeString(text); {
	case err != nil || !s.exists():
		s.or(special).note(SignatureLoss, "kept as a string: expected bytes in base64")
	case utf8.Valid(raw):
		return lumigl.TextOf(string(raw))
	default:
		s.note(BytesLoss, "kept as a base64 string: the bytes are not valid UTF-8")
	}
	return lumigl.TextOf(text)
}
