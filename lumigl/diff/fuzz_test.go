package diff_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"unicode"

	"golang.org/x/tools/txtar"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/diff"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// FuzzDiff compares two valid files. Applying the delta to the first file must yield the second, and the output must
// not contain control characters.
func FuzzDiff(f *testing.F) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		f.Fatalf("Glob returned no archives: %v", err)
	}
	for _, name := range names {
		archive := txtar.Parse(must.Get(os.ReadFile(name))(f))
		var old, new string
		for _, file := range archive.Files {
			switch file.Name {
			case "old":
				old = string(file.Data)
			case "new":
				new = string(file.Data)
			}
		}
		f.Add(old, new)
		f.Add(new, old)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		old, err := lumigl.Parse(a)
		if err != nil {
			return
		}
		new, err := lumigl.Parse(b)
		if err != nil {
			return
		}
		d, err := diff.Compare(old, new, diff.Options{})
		if err != nil {
			return
		}
		if err := diff.Verify(d); err != nil {
			t.Fatal(err)
		}
		var shown bytes.Buffer
		must.Do(t, d.WriteText(&shown, diff.TextOptions{Context: 2}))
		must.Do(t, d.WriteStat(&shown, diff.TextOptions{}))
		must.Do(t, d.WriteJSON(&shown))
		for _, r := range shown.String() {
			if r != '\n' && r != ' ' && !unicode.IsPrint(r) {
				t.Fatalf("the output contains %U, want it escaped", r)
			}
		}
	})
}
