//go:build unix

package bench_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/idl/compile"
	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/test/bench/cputime"
	"github.com/lumi-idl/lumi/test/kit/corpus"
)

// BenchmarkSchema compares finding the first of 1,000 resources in a schema, as adapters do when they start, with reading all.
func BenchmarkSchema(b *testing.B) {
	dir := b.TempDir()
	if err := corpus.Write(dir, corpus.Options{Resources: 1000}); err != nil {
		b.Fatal(err)
	}
	pkg, _, err := compile.Load(context.Background(), compile.Options{Dir: filepath.Join(dir, filepath.FromSlash(corpus.IDL))})
	if err != nil {
		b.Fatal(err)
	}
	data, err := schema.Compact(pkg)
	if err != nil {
		b.Fatal(err)
	}
	text := string(data)
	var first, all float64
	for b.Loop() {
		before := cputime.Now(b)
		index, err := schema.NewIndex(text)
		if err != nil {
			b.Fatal(err)
		}
		if d, err := index.Find(index.Tokens("resource")[0]); d == nil {
			b.Fatal(err)
		}
		between := cputime.Now(b)
		if _, err := schema.Read(strings.NewReader(text)); err != nil {
			b.Fatal(err)
		}
		first += (between - before).Seconds()
		all += (cputime.Now(b) - between).Seconds()
	}
	b.ReportMetric(0, "ns/op") // would add both
	b.ReportMetric(first/float64(b.N)*1000, "first-cpu-ms")
	b.ReportMetric(all/float64(b.N)*1000, "all-cpu-ms")
	b.ReportMetric(all/first, "all/first")
	b.ReportMetric(float64(len(text))*float64(b.N)/all/1e6, "all-MB/cpu-s")
}
