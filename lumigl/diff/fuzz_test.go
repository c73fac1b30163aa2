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

// FuzzDiff compares any two valid files: the delta leads from the first to the second, and nothing that is shown can drive a
// terminal.
func FuzzDiff(f *testing.F) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		f.Fatal("no archives", err)
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
				t.Fatalf("%U is shown as it is", r)
			}
		}
	})
}

// withoutSources removes what is not compared.
func withoutSources(doc lumigl.Document) {
	all := slices.Collect(doc.Base().Vertices())
	if s, ok := doc.(*lumigl.Snapshot); ok {
		all = append(all, s.Pending.Deletes...)
		for _, o := range s.Pending.Operations {
			all = append(all, o.Resource)
		}
	}
	for _, v := range all {
		v.Source = ""
	}
}

func applyFuzzed(t *testing.T, old, new lumigl.Document, d *diff.Delta) {
	before, ok := old.(*lumigl.Snapshot)
	if !ok {
		return
	}
	got := must.Get(diff.Apply(before, d))(t)
	if text(t, got) != text(t, new) {
		t.Fatalf("the delta leads to\n%s\nand not to\n%s", text(t, got), text(t, new))
	}
}

func patchFuzzed(t *testing.T, old, new lumigl.Document, d *diff.Delta) {
	var patch bytes.Buffer
	must.Do(t, d.WritePatch(&patch, diff.PatchOptions{ShowSecrets: true}))
	if strings.Contains(text(t, old)+text(t, new), `"": `) {
		return // The library does not find what stands behind an empty key.
	}
	got, err := applyPatch(text(t, old), patch.String())
	if err != nil {
		t.Fatal(err, patch.String())
	}
	// A patched file is in no order, and the parser of this package is not needed to see what it says.
	if a, b := compact(t, got), compact(t, text(t, new)); a != b {
		t.Fatalf("the patch leads to\n%s\nand not to\n%s", a, b)
	}
}
