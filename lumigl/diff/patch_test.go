package diff_test

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/diff"
)

// TestPatchAny applies patches between any two snapshots with another library.
func TestPatchAny(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		keys := someKeys[:len(someKeys)-1] // The library does not find what stands behind an empty key.
		old, new := drawSnapshot(rt, keys), drawSnapshot(rt, keys)
		var patch bytes.Buffer
		if err := compare(t, old, new).WritePatch(&patch, diff.PatchOptions{ShowSecrets: true}); err != nil {
			rt.Fatal(err)
		}
		got, err := applyPatch(text(t, old), patch.String())
		if err != nil {
			rt.Fatalf("%v\n%s\n%s", err, text(t, old), patch.String())
		}
		if diff := cmp.Diff(decode(t, text(t, new)), decode(t, got)); diff != "" {
			rt.Fatalf("-want +got:\n%s\n%s", diff, patch.String())
		}
		// The library puts keys in an order of its own, so that resources may stand before what they refer to.
		patched, _ := lumigl.Parser{}.Salvage(got)
		if d := compare(t, patched, new); !d.Empty() {
			rt.Fatalf("the patched file differs from the new one: %+v", d)
		}
	})
}

// TestPatchLists holds that a list is replaced of which more than half is another, if that is many elements.
func TestPatchLists(t *testing.T) {
	for _, test := range []struct{ length, changed, operations int }{
		{16, 16, 16}, {17, 16, 16}, {17, 17, 1}, {34, 17, 17}, {34, 18, 1}, {35, 17, 17}, {35, 18, 1},
	} {
		of := func(changed int) string {
			var all []string
			for i := range test.length {
				n := i
				if i < changed {
					n = -1 - i
				}
				all = append(all, strconv.Itoa(n))
			}
			return `{"vertices": {"v": {"list": [` + strings.Join(all, ", ") + `]}}}`
		}
		old, new := of(0), of(test.changed)
		var patch bytes.Buffer
		if err := compare(t, parse(t, old), parse(t, new)).WritePatch(&patch, diff.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(patch.String(), `"op"`); n != test.operations {
			t.Errorf("%d of %d: %d operations, want %d", test.changed, test.length, n, test.operations)
		}
		got, err := applyPatch(old, patch.String())
		if err != nil || compact(t, got) != compact(t, new) {
			t.Errorf("%d of %d: %v\n%s", test.changed, test.length, err, got)
		}
	}
}

// TestPatchAbsent holds that an element of a list which was built of nothing is null, as it is in a file.
func TestPatchAbsent(t *testing.T) {
	old := holding(t, lumigl.ListOf(lumigl.IntOf(1), lumigl.IntOf(2)))
	for _, list := range [][]lumigl.Value{{{}, lumigl.IntOf(1), lumigl.IntOf(2)}, {lumigl.IntOf(1), {}}, {{}, {}, {}}} {
		var patch bytes.Buffer
		if err := compare(t, old, holding(t, lumigl.ListOf(list...))).WritePatch(&patch, diff.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		got, err := applyPatch(text(t, old), patch.String())
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range list {
			if !v.Exists() {
				list[i] = lumigl.NullValue()
			}
		}
		if want := text(t, holding(t, lumigl.ListOf(list...))); compact(t, got) != compact(t, want) {
			t.Errorf("%s\nbecomes %s", patch.String(), got)
		}
	}
}

func applyPatch(doc, patch string) (string, error) {
	p, err := jsonpatch.DecodePatch([]byte(patch))
	if err != nil {
		return "", err
	}
	options := jsonpatch.NewApplyOptions()
	options.EscapeHTML = false
	got, err := p.ApplyWithOptions([]byte(doc), options)
	return string(got), err
}

func decode(t testing.TB, text string) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// compact is what a JSON text says, with sorted keys.
func compact(t testing.TB, text string) string {
	t.Helper()
	b, err := json.Marshal(decode(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
