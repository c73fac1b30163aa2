package lumi_test

import (
	"testing"

	lumi "github.com/lumi-idl/lumi/runtime"
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
			t.Errorf("%+v: got %+v, %q, %q, %q", want, got, text, path, uri)
		}
	}
}

func TestArchive(t *testing.T) {
	ofAssets := func(name string) lumi.Archive {
		return lumi.AssetArchive(map[string]lumi.Asset{name: lumi.TextAsset("x")})
	}
	archives := []lumi.Archive{
		ofAssets("a"), ofAssets("b"), lumi.FileArchive("x"), lumi.FileArchive("y"), lumi.URIArchive("x"), {},
	}
	for i, a := range archives {
		for j, b := range archives {
			if a.Equal(b) != (i == j) {
				t.Errorf("archives %d and %d: equal is %v", i, j, a.Equal(b))
			}
		}
	}
	if assets, ok := archives[0].Assets(); !ok || len(assets) != 1 {
		t.Errorf("got %v, %v", assets, ok)
	}
	if path, ok := archives[2].Path(); !ok || path != "x" {
		t.Errorf("got %v, %v", path, ok)
	}
	if uri, ok := archives[4].URI(); !ok || uri != "x" {
		t.Errorf("got %v, %v", uri, ok)
	}
	if _, ok := archives[5].Path(); ok {
		t.Error("no archive has a path")
	}
}
