package diff_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/diff"
)

func compare(t testing.TB, old, new lumigl.Document) *diff.Delta {
	t.Helper()
	d, err := diff.Compare(old, new, diff.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestApplyAny holds any two snapshots against each other.
func TestApplyAny(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		old, new := drawSnapshot(rt, someKeys), drawSnapshot(rt, someKeys)
		oldText, newText := text(t, old), text(t, new)
		d := compare(t, old, new)
		got, err := diff.Apply(old, d)
		if err != nil {
			rt.Fatalf("%v\n%s\n%s", err, oldText, newText)
		}
		if diff := cmp.Diff(newText, text(t, got)); diff != "" {
			rt.Fatalf("-want +got:\n%s", diff)
		}
		if again := compare(t, got, new); !again.Empty() {
			rt.Fatalf("the outcome differs from the new snapshot: %+v", again)
		}
		if d.Empty() != (oldText == newText) {
			rt.Fatalf("a delta is empty: %v\n%s\n%s", d.Empty(), oldText, newText)
		}
		if text(t, old) != oldText {
			rt.Fatal("the old snapshot has been changed")
		}
	})
}
