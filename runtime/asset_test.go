package lumi_test

import (
	"testing"

	"google.golang.org/protobuf/proto"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestAsset(t *testing.T) {
	type place struct{ text, path, uri bool }
	for want, a := range map[place]lumi.Asset{
		{text: true}: lumi.TextAsset("x"), {path: true}: lumi.FileAsset("x"), {uri: true}: lumi.URIAsset("x"), {}: {},
	} {
		var got place
		var text, path, uri string
		text, got.text = a.Text()
		path, got.path = a.Path()
		uri, got.uri = a.URI()
		if got != want || a != (lumi.Asset{}) && (text != "x" || path != "x" || uri != "x") {
			t.Errorf("accessors of %+v = %+v, %q, %q, %q", want, got, text, path, uri)
		}
	}
}

func TestArchive(t *testing.T) {
	of := func(name string, c lumi.Content) lumi.Archive {
		return lumi.AssetArchive(map[string]lumi.Content{name: c})
	}
	archives := []lumi.Archive{
		of("a", lumi.TextAsset("x")), of("b", lumi.TextAsset("x")), of("a", lumi.TextAsset("y")), of("a", nil),
		of("a", lumi.FileArchive("x")), of("a", of("a", lumi.TextAsset("x"))), of("a", of("a", lumi.FileAsset("x"))),
		lumi.FileArchive("x"), lumi.FileArchive("y"), lumi.URIArchive("x"), {},
		hashed(t, "1").Code, hashed(t, "2").Code, inside(t, "1"), inside(t, "2"),
	}
	for i, a := range archives {
		for j, b := range archives {
			if a.Equal(b) != (i == j) {
				t.Errorf("archives[%d].Equal(archives[%d]) = %v, want %v", i, j, a.Equal(b), i == j)
			}
		}
	}
	if assets, ok := archives[0].Assets(); !ok || len(assets) != 1 {
		t.Errorf("archives[0].Assets() = %v, %v, want 1 asset, true", assets, ok)
	}
	if path, ok := archives[7].Path(); !ok || path != "x" {
		t.Errorf("archives[7].Path() = %q, %v, want \"x\", true", path, ok)
	}
	if uri, ok := archives[9].URI(); !ok || uri != "x" {
		t.Errorf("archives[9].URI() = %q, %v, want \"x\", true", uri, ok)
	}
	if _, ok := archives[10].Path(); ok {
		t.Error("Path of the zero archive returned true, want false")
	}
}

// files is an object with an asset and an archive.
type files struct {
	Logo lumi.Asset
	Code lumi.Archive
}

func (f *files) Lumi(p *lumi.Props) {
	lumi.Required(p, "logo", &f.Logo, lumi.AssetValue)
	lumi.Required(p, "code", &f.Code, lumi.ArchiveValue)
}

func hashedBag(t *testing.T, hash string) lumi.Bag {
	return bag(t, `{
		"logo": {"$sig": "$asset", "path": "logo.png", "hash": "`+hash+`"},
		"code": {"$sig": "$archive", "hash": "`+hash+`", "assets": {
			"a": {"$sig": "$asset", "path": "a", "hash": "`+hash+`"}, "b": {"$sig": "$archive", "path": "b", "hash": "`+hash+`"}
		}}
	}`)
}

// hashed returns files decoded with the given hash.
func hashed(t *testing.T, hash string) files {
	t.Helper()
	var f files
	must.Do(t, lumi.Decode(hashedBag(t, hash), &f))
	return f
}

// inside returns an archive with the given hash, which is nested in an archive without one.
func inside(t *testing.T, hash string) lumi.Archive {
	t.Helper()
	assets, _ := hashed(t, hash).Code.Assets()
	return lumi.AssetArchive(map[string]lumi.Content{"b": assets["b"]})
}

func TestHash(t *testing.T) {
	f := hashed(t, "1")
	assets, _ := f.Code.Assets()
	for name, c := range map[string]lumi.Content{
		"asset": f.Logo, "archive": f.Code, "asset in it": assets["a"], "archive in it": assets["b"],
	} {
		if hash, ok := c.Hash(); hash != "1" || !ok {
			t.Errorf("Hash of %s = %q, %v, want \"1\", true", name, hash, ok)
		}
	}
	for _, c := range []lumi.Content{lumi.FileAsset("x"), lumi.FileArchive("x")} {
		if hash, ok := c.Hash(); hash != "" || ok {
			t.Errorf("Hash of %v = %q, %v, want \"\", false", c, hash, ok)
		}
	}
	if f.Logo == hashed(t, "2").Logo {
		t.Error("assets with different hashes are equal, want unequal")
	}
	again := must.Get(lumi.Encode(&f))(t)
	if want := hashedBag(t, "1"); !proto.Equal(again.Struct(), want.Struct()) {
		t.Errorf("Encode =\n%s\nwant\n%s", again, want)
	}
}

// Content with the same path but a different hash is a change.
func TestCompareHash(t *testing.T) {
	none := bag(t, `{"logo": {"$sig": "$asset", "path": "logo.png"}}`)
	one := bag(t, `{"logo": {"$sig": "$asset", "path": "logo.png", "hash": "1"}}`)
	two := bag(t, `{"logo": {"$sig": "$asset", "path": "logo.png", "hash": "2222222222222222"}}`)
	for _, test := range []struct {
		old, want lumi.Bag
		changes   string
	}{
		{one, one, ""},
		{one, two, `~ logo: {"hash":"1","path":"logo.png"} -> {"hash":"222222222222","path":"logo.png"}` + "\n"},
		{none, one, `~ logo: {"path":"logo.png"} -> {"hash":"1","path":"logo.png"}` + "\n"},
	} {
		if got := lumi.Compare(test.old, test.want).String(); got != test.changes {
			t.Errorf("Compare(%v, %v) = %swant %s", test.old, test.want, got, test.changes)
		}
	}
}
