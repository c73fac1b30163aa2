package lumi

import (
	"maps"
	"slices"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/runtime/internal/signed"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// Content is an [Asset] or an [Archive].
type Content interface {
	// Hash returns what tells the content from any other, if that was found out: whoever calls a provider looks at files
	// and folders before Check, so that one whose content changed is a change. A text needs no hash, and what is behind
	// an address has none.
	Hash() (string, bool)

	// wire makes the value on the wire, or returns nil where there is no content.
	wire(p *Props) *structpb.Value
}

// Asset is a file or a text that travels with a program. The zero Asset is none, and counts as absent. Assets can be
// compared with ==.
type Asset struct {
	kind  source
	value string
	hash  string
}

// source is the key under which an asset or archive says where its content is.
type source string

const (
	fromText   source = "text"
	fromPath   source = "path"
	fromURI    source = "uri"
	fromAssets source = "assets"
)

// hashKey is the key beside that, with a hash of the content.
const hashKey = "hash"

// TextAsset is an asset that holds its content.
func TextAsset(text string) Asset { return Asset{kind: fromText, value: text} }

// FileAsset is an asset whose content is that of a file.
func FileAsset(path string) Asset { return Asset{kind: fromPath, value: path} }

// URIAsset is an asset whose content is found at a URI.
func URIAsset(uri string) Asset { return Asset{kind: fromURI, value: uri} }

// Text returns the content, if the asset holds it.
func (a Asset) Text() (string, bool) { return a.value, a.kind == fromText }

// Path returns the file, if the asset is one.
func (a Asset) Path() (string, bool) { return a.value, a.kind == fromPath }

// URI returns the URI, if the asset is found at one.
func (a Asset) URI() (string, bool) { return a.value, a.kind == fromURI }

// Hash implements [Content].
func (a Asset) Hash() (string, bool) { return a.hash, a.hash != "" }

// Archive is a collection of files that travels with a program. The zero Archive is none, and counts as absent.
type Archive struct {
	kind   source
	value  string
	assets map[string]Content
	hash   string
}

// AssetArchive is an archive made of assets by their names, and of what other archives hold, below theirs. The map must
// not be changed after.
func AssetArchive(assets map[string]Content) Archive {
	return Archive{kind: fromAssets, assets: assets}
}

// FileArchive is an archive that is a folder or a file.
func FileArchive(path string) Archive { return Archive{kind: fromPath, value: path} }

// URIArchive is an archive that is found at a URI.
func URIArchive(uri string) Archive { return Archive{kind: fromURI, value: uri} }

// Assets returns the assets and archives, if the archive is made of such. One that is not known yet is nil.
func (a Archive) Assets() (map[string]Content, bool) { return a.assets, a.kind == fromAssets }

// Path returns the folder or file, if the archive is one.
func (a Archive) Path() (string, bool) { return a.value, a.kind == fromPath }

// URI returns the URI, if the archive is found at one.
func (a Archive) URI() (string, bool) { return a.value, a.kind == fromURI }

// Hash implements [Content].
func (a Archive) Hash() (string, bool) { return a.hash, a.hash != "" }

// Equal reports whether two archives say the same about where their content is, and what it is.
func (a Archive) Equal(b Archive) bool {
	return a.kind == b.kind && a.value == b.value && a.hash == b.hash && maps.EqualFunc(a.assets, b.assets, equalContent)
}

// equalContent spares == the archives, which it cannot compare.
func equalContent(a, b Content) bool {
	if archive, ok := a.(Archive); ok {
		other, ok := b.(Archive)
		return ok && archive.Equal(other)
	}
	if _, ok := b.(Archive); ok {
		return false
	}
	return a == b
}

// The codecs of assets and archives.
var (
	AssetValue   = Codec[*Asset]{codec: &scalar[Asset]{KindAsset, (*Props).asset, wireOf[Asset]}}
	ArchiveValue = Codec[*Archive]{codec: &scalar[Archive]{KindArchive, (*Props).archive, wireOf[Archive]}}

	contentValue = Codec[*Content]{codec: contentCodec{}}
)

func wireOf[C Content](p *Props, c C) *structpb.Value { return c.wire(p) }

// contentCodec is that of what an archive is made of.
type contentCodec struct{}

func (contentCodec) decode(p *Props, v *structpb.Value, into any) (ok bool) {
	var c Content
	switch signed.Signature(v) {
	case wire.Asset:
		c, ok = p.asset(v)
	case wire.Archive:
		c, ok = p.archive(v)
	default:
		p.mismatch("an asset or an archive", v)
	}
	return set(into, c, ok)
}

func (contentCodec) kind() Kind { return KindAny }

func (contentCodec) encode(p *Props, from any) *structpb.Value {
	c := *from.(*Content)
	if c == nil {
		return nil
	}
	return c.wire(p)
}

func (a Asset) wire(p *Props) *structpb.Value {
	if a.kind == "" {
		return nil
	}
	return p.content(wire.Asset, a.kind, p.string(a.value), a.hash)
}

func (a Archive) wire(p *Props) *structpb.Value {
	switch a.kind {
	case "":
		return nil
	case fromAssets:
		assets := a.assets
		if assets == nil {
			assets = map[string]Content{}
		}
		return p.content(wire.Archive, a.kind, Map(contentValue).codec.encode(p, &assets), a.hash)
	}
	return p.content(wire.Archive, a.kind, p.string(a.value), a.hash)
}

// content makes a signed object.
func (p *Props) content(signature string, kind source, value *structpb.Value, hash string) *structpb.Value {
	v := signedObject(signature, string(kind), value)
	if hash != "" {
		v.GetStructValue().Fields[hashKey] = p.string(hash)
	}
	return v
}

func (p *Props) asset(v *structpb.Value) (Asset, bool) {
	kind, value, ok := p.source(v, wire.Asset, "an asset", fromText, fromPath, fromURI)
	if !ok {
		return Asset{}, false
	}
	s, ok := p.text(value)
	if !ok {
		return Asset{}, false
	}
	hash, ok := p.hash(v)
	return Asset{kind: kind, value: s, hash: hash}, ok
}

func (p *Props) archive(v *structpb.Value) (Archive, bool) {
	kind, value, ok := p.source(v, wire.Archive, "an archive", fromAssets, fromPath, fromURI)
	if !ok {
		return Archive{}, false
	}
	a := Archive{kind: kind}
	if kind == fromAssets {
		ok = Map(contentValue).codec.decode(p, value, &a.assets)
	} else {
		a.value, ok = p.text(value)
	}
	if !ok {
		return Archive{}, false
	}
	a.hash, ok = p.hash(v)
	return a, ok
}

// source finds the one field that says where the content is. An asset whose text is a secret is a secret, and one whose
// text is unknown is unknown.
func (p *Props) source(
	v *structpb.Value, signature, what string, kinds ...source,
) (kind source, value *structpb.Value, ok bool) {
	p.reportFound()
	if signed.Signature(v) != signature {
		p.mismatch(what, v)
		return "", nil, false
	}
	fields := v.GetStructValue().GetFields()
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if key == wire.Signature || key == hashKey || signed.IsNull(fields[key]) {
			continue
		}
		if value != nil || !slices.Contains(kinds, source(key)) {
			p.wrong("expected exactly one of %s, %s and %s next to the signature", kinds[0], kinds[1], kinds[2])
			return "", nil, false
		}
		kind, value = source(key), fields[key]
	}
	if value == nil {
		p.wrong("expected one of %s, %s and %s next to the signature", kinds[0], kinds[1], kinds[2])
		return "", nil, false
	}
	value, is := p.open(value)
	if is == absent {
		p.wrong("expected a value for %s", kind)
	}
	return kind, value, is == present
}

// hash finds the hash of the content, "" where there is none.
func (p *Props) hash(v *structpb.Value) (string, bool) {
	value, is := p.open(v.GetStructValue().GetFields()[hashKey])
	if is != present {
		return "", is == absent
	}
	s, ok := p.text(value)
	if ok && s == "" {
		p.wrong("expected a value for %s", hashKey)
		return "", false
	}
	return s, ok
}
