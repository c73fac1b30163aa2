package lumigl

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lumi-idl/lumi/test/kit/must"
)

// FuzzAtOnce compares both parsers. The single pass must return the same document if there are no errors, and nil
// otherwise. It may return nil for files that set the tag after references.
func FuzzAtOnce(f *testing.F) {
	for _, pattern := range []string{"testdata/examples/*.json", "testdata/valid/*.json"} {
		names := must.Get(filepath.Glob(pattern))(f)
		for _, name := range names {
			src := must.Get(os.ReadFile(name))(f)
			f.Add(string(src))
		}
	}
	f.Add(`{"vertices": {"a": {"x": {"#": "b"}}, "b": {}}, "ref": "#"}`)
	f.Add(`{"ref": "#", "vertices": {"a": {"x": {"#": "b"}}, "b": {"x": {"#": "a"}}}}`)
	f.Add(`{"vertices": {"a": {}, "b": {}, "a": {}}}`)
	f.Add(`{"vertices": {"a": {}}, "note": {"b": {}}}`)
	f.Add(`{"resources": {}, "resources": {"urn:lumi:e::p:m::t:m:T::a": {"type": "t:m:T", "properties": {}}}}`)
	f.Add(`{"vertices": {"a": {}}, "resources": {"urn:lumi:e::p:m::t:m:T::a": {"type": "t:m:T", "properties": {}}}}`)
	f.Fuzz(func(t *testing.T, src string) {
		doc, invalid := Parser{}.thorough(src)
		quick := Parser{}.atOnce(src)
		switch {
		case quick == nil && invalid == nil && doc.Base().Tag == "":
			t.Fatal("atOnce returned nil for a valid file")
		case quick == nil:
			return
		case invalid != nil:
			t.Fatalf("atOnce returned a document for an invalid file:\n%s", invalid)
		}
		one := must.Get(Append(nil, quick))(t)
		if other, err := Append(nil, doc); err != nil || !bytes.Equal(one, other) {
			t.Fatalf("atOnce returned\n%s\nwant\n%s%v", one, other, err)
		}
	})
}

func TestAtOnce(t *testing.T) {
	const n = 3 * sample
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"%d": {"to": [{"#ref": "%d"}, {"#ref": "%d"}]},`, i, n-1-i, i/2)
	}
	src := `{"vertices": {` + b.String() + `"last": {"to": [{"#ref": "0"}]}}}`
	doc := Parser{}.atOnce(src)
	if doc == nil {
		t.Fatal("atOnce returned nil")
	}
	g := doc.Base()
	for v := range g.Vertices() {
		if g.Vertex(v.key) != v {
			t.Errorf("Vertex(%q) returned another vertex", v.key)
		}
		for target := range v.Properties.References() {
			if g.Vertex(target.key) != target {
				t.Errorf("%s refers to a vertex %s outside of the graph", v.key, target.key)
			}
		}
	}
	if g.Len() != n+1 || g.Tag != "" {
		t.Errorf("Parse returned %d vertices and tag %q, want %d and none", g.Len(), g.Tag, n+1)
	}
	if _, err := Parse(strings.Replace(src, `"last"`, `"0"`, 1)); err == nil {
		t.Error("Parse of a duplicate key returned nil, want an error")
	}
}

func TestWhiteSpace(t *testing.T) {
	must.Get(Parse(" {\r\n\t\"vertices\" \t:\r{ } , \"x\"\n: [ ]\r\n}\n"))(t)
}

func TestClip(t *testing.T) {
	for _, c := range []string{"a", "é", "→", "𝄞"} {
		for shift := range 4 {
			long := strings.Repeat("a", shift) + strings.Repeat(c, 121) + strings.Repeat("a", shift)
			short := clip(long)
			start, end, ok := strings.Cut(short, "…")
			if !ok || !utf8.ValidString(short) || !strings.HasPrefix(long, start) || !strings.HasSuffix(long, end) ||
				min(len(start), len(end)) < 57 || max(len(start), len(end)) > 60 {
				t.Errorf("clip(%q) = %q", long, short)
			}
		}
	}
	if s := strings.Repeat("a", 120); clip(s) != s {
		t.Error("clip changed a string of 120 bytes")
	}
}

func TestParserMaxSize(t *testing.T) {
	for max, want := range map[int64]int64{0: 1 << 30, -1: 1 << 30, 7: 7, 1 << 40: 1<<32 - 1} {
		if found := (Parser{MaxSize: max}).maxSize(); found != want {
			t.Errorf("maxSize with limit %d = %d, want %d", max, found, want)
		}
	}
}

func TestSerial(t *testing.T) {
	for text, want := range map[string]uint64{
		"0": 0, "7": 7, "1e3": 1000, "2.0": 2, "1.5e1": 15, "18446744073709551615": math.MaxUint64, "18446744073709551615e0": math.MaxUint64,
	} {
		s, err := ParseSnapshot(`{"serial": ` + text + `, "resources": {}}`)
		if err != nil || s.Serial != want {
			t.Errorf("ParseSnapshot with serial %s = %v, %v, want serial %d", text, s, err, want)
		}
	}
	for _, text := range []string{"-1", "-0", "1.5", "18446744073709551616", "1e400", `"1"`, "null"} {
		_, err := ParseSnapshot(`{"serial": ` + text + `, "resources": {}}`)
		if want := `"serial" must be a whole number from 0 to 18446744073709551615, not `; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseSnapshot with serial %s = %v, want %s", text, err, want)
		}
	}
}
