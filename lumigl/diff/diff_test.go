package diff_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/diff"
	"github.com/lumi-idl/lumi/runtime/wire"
)

func compare(t testing.TB, old, new lumigl.Document) *diff.Delta {
	t.Helper()
	d, err := diff.Compare(old, new, diff.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestVerify(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		old, new := drawSnapshot(rt, someKeys), drawSnapshot(rt, someKeys)
		oldText, newText := text(t, old), text(t, new)
		d := compare(t, old, new)
		if err := diff.Verify(d); err != nil {
			rt.Fatalf("Verify: %v\n%s\n%s", err, oldText, newText)
		}
		if d.Empty() != (oldText == newText) {
			rt.Fatalf("Empty = %t, want %t\n%s\n%s", d.Empty(), oldText == newText, oldText, newText)
		}
		if text(t, old) != oldText {
			rt.Fatal("Compare changed the old snapshot")
		}
	})
}

// No form of output reveals a secret.
func TestSecretsMasked(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		old, new := drawSnapshot(rt, someKeys), drawSnapshot(rt, someKeys)
		d := compare(t, old, new)
		var b bytes.Buffer
		for _, err := range []error{
			d.WriteText(&b, diff.TextOptions{Context: 3}), d.WriteStat(&b, diff.TextOptions{}), d.WriteJSON(&b),
		} {
			if err != nil {
				rt.Fatal(err)
			}
		}
		if i := strings.Index(b.String(), "hunter"); i >= 0 {
			rt.Fatalf("the output reveals a secret:\n%s", b.String())
		}
	})
}

// The content of a secret is masked even where it occurs as plain text in the same resource, as it does if a value is
// moved and marked or unmarked as secret.
func TestSecretsMaskedInPlainText(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		secrets := map[string]bool{}
		leaf := func() lumigl.Value {
			content := rapid.SampledFrom([]string{"hunter1", "hunter2", "hunter3\nhunter3"}).Draw(rt, "content")
			if rapid.Bool().Draw(rt, "plain") {
				return lumigl.TextOf(content)
			}
			secrets[content] = true
			return lumigl.ObjectOf(
				lumigl.Member{Key: wire.Signature, Value: lumigl.TextOf(wire.Secret)},
				lumigl.Member{Key: "value", Value: lumigl.TextOf(content)})
		}
		list := func() lumigl.Value {
			var all []lumigl.Value
			for range rapid.IntRange(0, 4).Draw(rt, "length") {
				e := leaf()
				if rapid.Bool().Draw(rt, "in an object") {
					e = lumigl.ObjectOf(lumigl.Member{Key: rapid.SampledFrom([]string{"a", "name"}).Draw(rt, "key"), Value: e})
				}
				all = append(all, e)
			}
			return lumigl.ListOf(all...)
		}
		d := compare(t, holding(rt, list()), holding(rt, list()))
		var b bytes.Buffer
		for _, err := range []error{
			d.WriteText(&b, diff.TextOptions{Context: 1}), d.WriteJSON(&b),
		} {
			if err != nil {
				rt.Fatal(err)
			}
		}
		for content := range secrets {
			content, _, _ = strings.Cut(content, "\n")
			if strings.Contains(b.String(), content) {
				rt.Fatalf("the output reveals secret %s:\n%s", content, b.String())
			}
		}
	})
}

func TestCompareDifferentForms(t *testing.T) {
	_, err := diff.Compare(&lumigl.Graph{}, &lumigl.Snapshot{}, diff.Options{})
	if !errors.Is(err, diff.ErrForms) {
		t.Errorf("Compare = %v, want %v", err, diff.ErrForms)
	}
}
