package gostubs_test

import (
	"go/build/constraint"
	"go/format"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/gen"
	"github.com/lumi-idl/lumi/gen/gostubs"
	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// TestAnyDocumentation checks that stubs with random documentation are valid, gofmted Go code without directives.
func TestAnyDocumentation(t *testing.T) {
	pieces := rapid.OneOf(
		rapid.SampledFrom([]string{
			"\n", "\n", "\n\n", " ", "\t", "\t\t", "   ", "- ", "* ", "1. ", "# ", "Title", "a", "text of some length.", "[x]",
			"[x]: https://example.com", "``", "''", "+build never", "go:build never", "//", "/*", "*/", "//go:embed x",
			"\r\n", "line x.go:1", "Deprecated: no.", "• ", "TODO(me): x", "`", "\"", ":", "é", "\u2028", "#", "http://a.b",
		}),
		rapid.String(),
	)
	docs := rapid.Map(rapid.SliceOfN(pieces, 0, 12), func(parts []string) string {
		// Go's scanner rejects these characters in an IDL.
		return strings.NewReplacer("\x00", "", "\ufeff", "").Replace(strings.Join(parts, ""))
	})
	rapid.Check(t, func(t *rapid.T) {
		doc := docs.Draw(t, "doc")
		p := required("X", schema.String)
		p.Doc = doc
		h := schema.Header{Name: "T", Doc: doc}
		pkg := &schema.Package{Name: "x", Modules: []*schema.Module{{GoName: "x", Files: []*schema.File{{
			Name: "x.go", Doc: doc, Decls: []schema.Decl{
				&schema.Struct{Header: h, Properties: []*schema.Property{p}},
				&schema.Enum{Header: schema.Header{Name: "E", Doc: doc}, Members: []*schema.Member{{Name: "M", Doc: doc}}},
				&schema.Resource{Header: schema.Header{Name: "R", Doc: doc}, Properties: []*schema.Property{p}},
				&schema.Const{Header: schema.Header{Name: "C", Doc: doc}, Value: true},
			},
		}}}}}
		pkg.Link()
		files := must.Get(gen.Rendered(gostubs.Generate(pkg, gostubs.Options{})))(t)
		got := files[0].Content
		want, err := format.Source(got)
		if err != nil {
			t.Fatalf("format.Source: %v\n%s", err, got)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Fatalf("stub is not gofmted (-gofmt +stub):\n%s", diff)
		}
		for line := range strings.Lines(string(got)) {
			line = strings.TrimSpace(line)
			if constraint.IsGoBuild(line) || constraint.IsPlusBuild(line) || strings.HasPrefix(line, "//go:") {
				t.Fatalf("stub contains the directive %s", line)
			}
		}
	})
}
