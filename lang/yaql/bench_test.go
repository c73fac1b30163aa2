package yaql

import (
	"strconv"
	"testing"
	"time"
)

// objects returns n objects for queries.
func objects(n int) []any {
	all := make([]any, n)
	for i := range all {
		all[i] = map[string]any{"id": i, "name": "server-" + strconv.Itoa(i), "cpus": i % 16, "tags": []any{"a", "b"}}
	}
	return all
}

var queries = []string{
	"$.where($.cpus > 4 and $.tags.len() > 1).select($.name).len()",
	"$.where($.cpus > 4).select({name => $.name, double => $.cpus * 2}).len()",
}

func BenchmarkQuery(b *testing.B) {
	data := objects(100_000)
	for _, source := range queries {
		b.Run(source, func(b *testing.B) {
			x, err := Compile(source)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := x.Evaluate(b.Context(), data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkReference evaluates the queries in the reference for a hundredth of the objects in [BenchmarkQuery]. It
// reports the time relative to this package, including the conversion of data.
func BenchmarkReference(b *testing.B) {
	ref := startReference(b)
	data := objects(1000)
	for _, source := range queries {
		b.Run(source, func(b *testing.B) {
			x, err := Compile(source)
			if err != nil {
				b.Fatal(err)
			}
			var ours, theirs time.Duration
			for b.Loop() {
				start := time.Now()
				if _, err := x.Evaluate(b.Context(), data); err != nil {
					b.Fatal(err)
				}
				ours += time.Since(start)
				start = time.Now()
				if a := ref.ask(map[string]any{"expression": source, "data": data}); a.Error != "" {
					b.Fatal(a.Error)
				}
				theirs += time.Since(start)
			}
			b.ReportMetric(float64(theirs)/float64(ours), "times-slower")
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		if _, err := Compile(queries[1]); err != nil {
			b.Fatal(err)
		}
	}
}
