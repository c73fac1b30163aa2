package linediff

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
)

func TestUnified(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	text := func(most, kinds int) string {
		var b strings.Builder
		for range random.IntN(most) {
			fmt.Fprintf(&b, "%d\n", random.IntN(kinds))
		}
		return strings.TrimSuffix(b.String(), strings.Repeat("\n", random.IntN(2)))
	}
	texts := []string{"", "\n", "a", "a\n", "\n\n", "a\n\n", "b"}
	for range 60 {
		texts = append(texts, text(40, 60), text(8, 4))
	}
	for _, old := range texts {
		for _, new := range texts {
			check(t, old, new)
			check(t, old, strings.Replace(old, "1\n", new, 1))
		}
	}
}

func FuzzUnified(f *testing.F) {
	f.Add("a\nb\n", "b\na")
	f.Fuzz(func(t *testing.T, old, new string) { check(t, old, new) })
}

// check compares a diff with the diff by rogpeppe/go-internal.
func check(t *testing.T, old, new string) {
	t.Helper()
	var got strings.Builder
	Unified("x", old, "y", new, func(sign, line string) { got.WriteString(sign + line + "\n") })
	if want := string(diff.Diff("x", []byte(old), "y", []byte(new))); got.String() != want {
		t.Fatalf("Unified(%q, %q) printed\n%s\nwant\n%s", old, new, got.String(), want)
	}
}
