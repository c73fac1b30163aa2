package lumi

import (
	"maps"
	"slices"

	"github.com/lumi-idl/lumi/internal/property"
	"github.com/lumi-idl/lumi/runtime/internal/signed"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// Content is an [Asset] or an [Archive].
type Content interface {
	// Hash returns the hash of the content and reports whether it is known. Callers of a provider hash files and
	// folders before Check, so that a diff detects changed content. Text and remote content have no hash.
	Hash() (string, bool)

	// wire returns the content in wire form. It may be absent.
	wire(p *Props) property.Value
}

// Asset is a file or text that is deployed with a program. The zero Asset means absent. Assets are comparable with ==.
type Asset struct {
	kind  source
	value string
	hash  string
}

// source is the key of the field in an asset or archive that contains or locates its content.
type source string

const (
	fromText   source = "text"
	fromPath   source = "path"
	fromURI    source = "uri"
	fromAssets source = "assets"
)

// hashKey is the key of the content's hash in an asset or archive.
const hashKey = "hash"

// TextAsset returns an asset with the given text.
func TextAsset(text string) Asset { return Asset{kind: fromText, value: text} }

// FileAsset returns an asset with the content of a file.
func FileAsset(path string) Asset { return Asset{kind: fromPath, value: path} }

// URIAsset returns an asset with the content at a URI.
func URIAsset(uri string) Asset { return Asset{kind: fromURI, value: uri} }

// Text returns the text of an asset created by [TextAsset]. It returns false for any other asset.
func (a Asset) Text() (string, bool) { return a.value, a.kind == fromText }

// Path returns the path of an asset created by [FileAsset]. It returns false for any other asset.
func (a Asset) Path() (string, bool) { return a.value, a.kind == fromPath }

// URI returns the URI of an asset created by [URIAsset]. It returns false for any other asset.
func (a Asset) URI() (string, bool) { return a.value, a.kind == fromURI }

// Hash implements [Content].
func (a Asset) Hash() (string, bool) { return a.hash, a.hash != "" }

// Archive is a collection of files that is deployed with a program. The zero Archive means absent.
type Archive struct {
	kind   source
	value  string
	assets map[string]Content
	hash   string
}

// AssetArchive returns an archive of the given assets and nested archives. A key is the name of a file, or of the folder
// that a nested archive is unpacked to. The map must not be modified afterward.
func AssetArchive(assets map[string]Content) Archive {
	return Archive{kind: fromAssets, assets: assets}
}

// FileArchive returns an archive with the files in a folder or an archive file.
func FileArchive(path string) Archive { return Archive{kind: fromPath, value: path} }

// URIArchive returns an archive with the files in the archive file at a URI.
func URIArchive(uri string) Archive { return Archive{kind: fromURI, value: uri} }

// Assets returns the members of an archive created by [AssetArchive]. Unknown members are nil. It returns false for any
// other archive.
func (a Archive) Assets() (map[string]Content, bool) { return a.assets, a.kind == fromAssets }

// Path returns the path of an archive created by [FileArchive]. It returns false for any other archive.
func (a Archive) Path() (string, bool) { return a.value, a.kind == fromPath }

// URI returns the URI of an archive created by [URIArchive]. It returns false for any other archive.
func (a Archive) URI() (string, bool) { return a.value, a.kind == fromURI }

// Hash implements [Content].
func (a Archive) Hash() (string, bool) { return a.hash, a.hash != "" }

// Equal reports whether two archives have the same source and hash.
func (a Archive) Equal(b Archive) bool {
	return a.kind == b.kind && a.value == b.value && a.hash == b.hash && maps.EqualFunc(a.assets, b.assets, equalContent)
}

// equalContent reports whether a and b are equal. Archives are not comparable with ==, since they contain maps.
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

func wireOf[C Content](p *Props, c C) property.Value { return c.wire(p) }

// contentCodec is the codec of the members of an archive.
type contentCodec struct{}

func (contentCodec) decode(p *Props, v *property.Value, into any) (ok bool) {
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

func (contentCodec) encode(p *Props, from any) property.Value {
	c := *from.(*Content)
	if c == nil {
		return property.Value{}
	}
	return c.wire(p)
}

func (a Asset) wire(p *Props) property.Value {
	if a.kind == "" {
		return property.Value{}
	}
	return p.content(wire.Asset, a.kind, p.string(a.value), a.hash)
}

func (a Archive) wire(p *Props) property.Value {
	switch a.kind {
	case "":
		return property.Value{}
	case fromAssets:
		assets := a.assets
		if assets == nil {
			assets = map[string]Content{}
		}
		return p.content(wire.Archive, a.kind, Map(contentValue).codec.encode(p, &assets), a.hash)
	}
	return p.content(wire.Archive, a.kind, p.string(a.value), a.hash)
}

// content returns the wire value of an asset or archive. hash is omitted if empty.
func (p *Props) content(signature string, kind source, value property.Value, hash string) property.Value {
	v := signed.Object(signature, string(kind), value)
	if hash != "" {
		v = v.With(hashKey, p.string(hash))
	}
	return v
}

func (p *Props) asset(v *property.Value) (Asset, bool) {
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

func (p *Props) archive(v *property.Value) (Archive, bool) {
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

// source returns the key and value of the field that contains or locates the content. If the value is a secret or
// unknown, so is the whole asset or archive. ok is false if the value is invalid, after reporting a fault, or unknown.
func (p *Props) source(
	v *property.Value, signature, what string, kinds ...source,
) (kind source, value *property.Value, ok bool) {
	p.reportFound()
	if signed.Signature(v) != signature {
		p.mismatch(what, v)
		return "", nil, false
	}
	fields := v.Fields()
	for i := range fields {
		key := fields[i].Name
		if key == wire.Signature || key == hashKey || fields[i].Value.IsNull() {
			continue
		}
		if value != nil || !slices.Contains(kinds, source(key)) {
			p.wrong("expected exactly one of %s, %s and %s next to the signature", kinds[0], kinds[1], kinds[2])
			return "", nil, false
		}
		kind, value = source(key), &fields[i].Value
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

// hash returns the hash in an asset or archive, or "" if it has none. It returns false if the hash is invalid or unknown.
func (p *Props) hash(v *property.Value) (string, bool) {
	value, is := p.open(v.Get(hashKey))
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
