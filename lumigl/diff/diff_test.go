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

func TestVerifyAny(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		old, new := drawSnapshot(rt, someKeys), drawSnapshot(rt, someKeys)
		oldText, newText := text(t, old), text(t, new)
		d := compare(t, old, new)
		if err := diff.Verify(d); err != nil {
			rt.Fatalf("%v\n%s\n%s", err, oldText, newText)
		}
		if d.Empty() != (oldText == newText) {
			rt.Fatalf("the delta is empty: got %v\n%s\n%s", d.Empty(), oldText, newText)
		}
		if text(t, old) != oldText {
			rt.Fatal("the old snapshot changed")
		}
	})
}

// TestSecretsAny searches all output for secrets.
func TestSecretsAny(t *testing.T) {
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
			rt.Fatalf("the output contains a secret:\n%s", b.String())
		}
	})
}

// TestSecretsElsewhere searches for the content of a secret that also occurs as plain text in the same resource, as
// after a value was moved and marked or unmarked as secret.
func TestSecretsElsewhere(t *testing.T) {
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
				rt.Fatalf("the output contains %s:\n%s", content, b.String())
			}
		}
	})
}

func TestForms(t *testing.T) {
	_, err := diff.Compare(&lumigl.Graph{}, &lumigl.Snapshot{}, diff.Options{})
	if !errors.Is(err, diff.ErrForms) {
		t.Errorf("%v", err)
	}
}
