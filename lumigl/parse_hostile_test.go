package lumigl_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/lumigl"
)

// TestHostileMemory parses files that need the most memory for their size. Allocations, including garbage, must not
// exceed a multiple of the size.
func TestHostileMemory(t *testing.T) {
	const size = 3_000_000
	fill := func(before, part, after string) string {
		return before + strings.TrimSuffix(strings.Repeat(part, size/len(part)), ",") + after
	}
	for _, test := range []struct{ name, src string }{
		{"lists", fill(`{"vertices": {"a": {"x": [`, `[],`, `]}}}`)},
		{"lists of one", fill(`{"vertices": {"a": {"x": [`, `[0],`, `]}}}`)},
		{"numbers", fill(`{"vertices": {"a": {"x": [`, `0,`, `]}}}`)},
		{"keys", fill(`{"vertices": {"a": {`, `"":0,`, `}}}`)},
		{"objects", fill(`{"vertices": {"a": {"x": [`, `{"":0},`, `]}}}`)},
		{"references", fill(`{"vertices": {"a": {"x": [`, `{"#ref":"a"},`, `]}}}`)},
		{"nesting", fill(`{"vertices": {"a": {"x": [`, strings.Repeat("[", 900)+strings.Repeat("]", 900)+",", `]}}}`)},
		{"commas", fill(`{"vertices": {"a": {"x": [`, `,`, `]}}}`)},
		{"quotes", fill(`{"vertices": {"a": {"x": [`, `"`, `]}}}`)},
		{"brackets", fill(`{"vertices": {"a": {"x": `, `]}`, `}}}`)},
		{"escapes", fill(`{"vertices": {"a": {"x": "`, `\u0000`, `"}}}`)},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		doc, err := lumigl.Parse(test.src)
		runtime.ReadMemStats(&after)
		if perByte := float64(after.TotalAlloc-before.TotalAlloc) / size; perByte > 250 {
			t.Errorf("%s: Parse allocated %.0f bytes per byte of input, want at most 250 (error: %v)", test.name, perByte, err)
		}
		runtime.KeepAlive(doc)
	}
}
