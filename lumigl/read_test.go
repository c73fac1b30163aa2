package lumigl

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// FuzzAtOnce compares the two ways of reading. One pass does for a text if, and only if, nothing is found wrong with it
// otherwise, and makes the same of it. It does not for a text that names its tag behind the references.
func FuzzAtOnce(f *testing.F) {
	for _, pattern := range []string{"testdata/examples/*.json", "testdata/valid/*.json"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, name := range names {
			src, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(src))
		}
	}
	f.Add(`{"vertices": {"a": {"x": {"#": "b"}}, "b": {}}, "ref": "#"}`)
	f.Add(`{"ref": "#", "vertices": {"a": {"x": {"#": "b"}}, "b": {"x": {"#": "a"}}}}`)
	f.Add(`{"vertices": {"a": {}, "b": {}, "a": {}}}`)
	f.Add(`{"resources": {}, "resources": {"urn:lumi:e::p:m::t:m:T::a": {"type": "t:m:T", "properties": {}}}}`)
	f.Add(`{"vertices": {"a": {}}, "resources": {"urn:lumi:e::p:m::t:m:T::a": {"type": "t:m:T", "properties": {}}}}`)
	f.Fuzz(func(t *testing.T, src string) {
		doc, invalid := Parser{}.thorough(src)
		quick := Parser{}.atOnce(src)
		switch {
		case quick == nil && invalid == nil && doc.Base().Tag == "":
			t.Fatal("nothing is wrong, but one pass did not do")
		case quick == nil:
			return
		case invalid != nil:
			t.Fatalf("one pass did, in spite of\n%s", invalid)
		}
		one, err := Append(nil, quick)
		if err != nil {
			t.Fatal(err)
		}
		if other, err := Append(nil, doc); err != nil || !bytes.Equal(one, other) {
			t.Fatalf("one pass made\n%s\nof it, and not\n%s%v", one, other, err)
		}
	})
}

// TestLargest sees to it that offsets fit, whatever limit somebody sets.
func TestLargest(t *testing.T) {
	for max, want := range map[int64]int64{0: 1 << 30, -1: 1 << 30, 7: 7, 1 << 40: 1<<32 - 1} {
		if found := (Parser{MaxSize: max}).maxSize(); found != want {
			t.Errorf("with a limit of %d, up to %d bytes are read, not %d", max, found, want)
		}
	}
}
