package tfserve

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/lumi-idl/lumi/idl/compile"
	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/test/kit/corpus"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// BenchmarkSchemas measures the answer to GetProviderSchema for 1,000 resource types, and the first use of one type.
func BenchmarkSchemas(b *testing.B) {
	dir := b.TempDir()
	if err := corpus.Write(dir, corpus.Options{Resources: 1000}); err != nil {
		b.Fatal(err)
	}
	pkg, _, err := compile.Load(context.Background(), compile.Options{Dir: filepath.Join(dir, filepath.FromSlash(corpus.IDL))})
	if err != nil {
		b.Fatal(err)
	}
	text := string(must.Get(schema.Compact(pkg))(b))
	b.Run("all", func(b *testing.B) {
		for b.Loop() {
			s := &Server{schemaJSON: text, names: must.Get(typeNames("x", must.Get(schema.NewIndex(text))(b).Tokens("resource")))(b)}
			resp := must.Get(s.GetProviderSchema(b.Context(), &tfprotov6.GetProviderSchemaRequest{}))(b)
			if len(resp.ResourceSchemas) != 1000 || len(resp.Diagnostics) > 0 {
				b.Fatal(len(resp.ResourceSchemas), resp.Diagnostics)
			}
		}
	})
	b.Run("one", func(b *testing.B) {
		for b.Loop() {
			x := must.Get(schema.NewIndex(text))(b)
			n := must.Get(typeNames("x", x.Tokens("resource")))(b)
			d := must.Get(x.Find(x.Tokens("resource")[0]))(b)
			newShapes(n).resource(d.(*schema.Resource))
		}
	})
}
