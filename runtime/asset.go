package lumi

import (
	"maps"
	"slices"

	"google.golang.org/protobuf/types/known/structpb"
)

// Asset is a file or a text that travels with a program. The zero Asset is none, and counts as absent. Assets can be
// compared with ==.
type Asset struct {
	kind  source
	value string
}

// source is the key under which an asset or archive says where its content is.
type source string

const (
	fromText   source = "text"
	fromPath   source = "path"
	fromURI    source = "uri"
	fromAssets source = "assets"
)

// TextAsset is an asset that holds its content.
func TextAsset(text string) Asset { return Asset{fromText, text} }

// FileAsset is an asset whose content is that of a file.
func FileAsset(path string) Asset { return Asset{fromPath, path} }

// URIAsset is an asset whose content is found at a URI.
func URIAsset(uri string) Asset { return Asset{fromURI, uri} }

// Text returns the content, if the asset holds it.
func (a Asset) Text() (string, bool) { return a.value, a.kind == fromText }

// Path returns the file, if the asset is one.
func (a Asset) Path() (string, bool) { return a.value, a.kind == fromPath }

// URI returns the URI, if the asset is found at one.
func (a Asset) URI() (string, bool) { return a.value, a.kind == fromURI }

// Archive is a collection of files that travels with a program. The zero Archive is none, and counts as absent.
type Archive struct {
	kind   source
	value  string
	assets map[string]Asset
}

// AssetArchive is an archive made of assets, by their names. The map must not be changed after.
func AssetArchive(assets map[string]Asset) Archive { return Archive{kind: fromAssets, assets: assets} }

// FileArchive is an archive that is a folder or a file.
func FileArchive(path string) Archive { return Archive{kind: fromPath, value: path} }

// URIArchive is an archive that is found at a URI.
func URIArchive(uri string) Archive { return Archive{kind: fromURI, value: uri} }

// Assets returns the assets, if the archive is made of such.
func (a Archive) Assets() (map[string]Asset, bool) { return a.assets, a.kind == fromAssets }

// Path returns the folder or file, if the archive is one.
func (a Archive) Path() (string, bool) { return a.value, a.kind == fromPath }

// URI returns the URI, if the archive is found at one.
func (a Archive) URI() (string, bool) { return a.value, a.kind == fromURI }

// Equal reports whether two archives say the same about where their content is.
func (a Archive) Equal(b Archive) bool {
	return a.kind == b.kind && a.value == b.value && maps.Equal(a.assets, b.assets)
}

// The codecs of assets and archives.
var (
	AssetValue   = Codec[*Asset]{codec: assetCodec{}}
	ArchiveValue = Codec[*Archive]{codec: archiveCodec{}}
)

type assetCodec struct{}

func (assetCodec) decode(p *Props, v *structpb.Value, into any) bool {
	a, ok := p.asset(v)
	if ok {
		*into.(*Asset) = a
	}
	return ok
}

func (assetCodec) encode(p *Props, from any) *structpb.Value {
	a := *from.(*Asset)
	if a == (Asset{}) {
		return nil
	}
	return signed(AssetSignature, string(a.kind), p.string(a.value))
}

type archiveCodec struct{}

func (archiveCodec) decode(p *Props, v *structpb.Value, into any) bool {
	a, ok := p.archive(v)
	if ok {
		*into.(*Archive) = a
	}
	return ok
}

func (archiveCodec) encode(p *Props, from any) *structpb.Value {
	a := *from.(*Archive)
	switch a.kind {
	case "":
		return nil
	case fromAssets:
		assets := a.assets
		if assets == nil {
			assets = map[string]Asset{}
		}
		return signed(ArchiveSignature, string(a.kind), Map(AssetValue).codec.encode(p, &assets))
	}
	return signed(ArchiveSignature, string(a.kind), p.string(a.value))
}

func (p *Props) asset(v *structpb.Value) (Asset, bool) {
	if signatureOf(v) != AssetSignature {
		p.mismatch("an asset", v)
		return Asset{}, false
	}
	kind, value, ok := p.source(v, fromText, fromPath, fromURI)
	if !ok {
		return Asset{}, false
	}
	s, ok := p.text(value)
	return Asset{kind, s}, ok
}

func (p *Props) archive(v *structpb.Value) (Archive, bool) {
	if signatureOf(v) != ArchiveSignature {
		p.mismatch("an archive", v)
		return Archive{}, false
	}
	kind, value, ok := p.source(v, fromAssets, fromPath, fromURI)
	if !ok {
		return Archive{}, false
	}
	if kind == fromAssets {
		var assets map[string]Asset
		ok = Map(AssetValue).codec.decode(p, value, &assets)
		return AssetArchive(assets), ok
	}
	s, ok := p.text(value)
	return Archive{kind: kind, value: s}, ok
}

// source finds the one field that says where the content is. An asset whose text is a secret is a secret, and one whose
// text is unknown is unknown.
func (p *Props) source(v *structpb.Value, kinds ...source) (kind source, value *structpb.Value, ok bool) {
	fields := v.GetStructValue().GetFields()
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if key == Signature || isNull(fields[key]) {
			continue
		}
		if value != nil || !slices.Contains(kinds, source(key)) {
			p.wrong("expected exactly one of %s, %s and %s beside the signature", kinds[0], kinds[1], kinds[2])
			return "", nil, false
		}
		kind, value = source(key), fields[key]
	}
	if value == nil {
		p.wrong("expected one of %s, %s and %s beside the signature", kinds[0], kinds[1], kinds[2])
		return "", nil, false
	}
	value, is := p.open(value)
	if is == absent {
		p.wrong("expected a value for %s", kind)
	}
	return kind, value, is == present
}
