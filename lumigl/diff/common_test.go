package diff

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/lumigl/match"
)

// TestCommon compares the result with the textbook algorithm and checks invariants for small budgets.
func TestCommon(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		list := rapid.SliceOfN(rapid.Int32Range(0, 5), 0, 30)
		a, b := list.Draw(rt, "a"), list.Draw(rt, "b")
		work := int64(math.MaxInt64)
		found := common(a, b, &work)
		verify(rt, a, b, found)
		if want := longest(a, b); len(found) != want {
			rt.Fatalf("common returned %d pairs, want %d", len(found), want)
		}
		little := rapid.Int64Range(0, 200).Draw(rt, "work")
		verify(rt, a, b, common(a, b, &little))
	})
}

func verify(t interface{ Fatalf(string, ...any) }, a, b []int32, found []link) {
	last := link{-1, -1}
	for _, m := range found {
		if m.a <= last.a || m.b <= last.b || a[m.a] != b[m.b] {
			t.Fatalf("common = %v, which is not a common subsequence", found)
		}
		last = m
	}
}

func longest(a, b []int32) int {
	table := make([][]int, len(a)+1)
	for i := range table {
		table[i] = make([]int, len(b)+1)
	}
	for i := range a {
		for j := range b {
			table[i+1][j+1] = max(table[i][j+1], table[i+1][j])
			if a[i] == b[j] {
				table[i+1][j+1] = table[i][j] + 1
			}
		}
	}
	return table[len(a)][len(b)]
}

// TestAnchors compares lists that differ too much for an exact solution.
func TestAnchors(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a := rapid.Permutation([]int32{1, 2, 3, 4, 5, 6, 7, 8}).Draw(rt, "a")
		b := rapid.Permutation([]int32{1, 2, 3, 4, 5, 6, 7, 8}).Draw(rt, "b")
		found := anchors(items(a, 0, len(a)), items(b, 0, len(b)))
		verify(rt, a, b, found)
		if want := longest(a, b); len(found) != want {
			rt.Fatalf("anchors returned %d pairs, want %d", len(found), want)
		}
	})
}

// TestCommonLong compares long lists that have most elements in common but differ too much for an exact solution.
func TestCommonLong(t *testing.T) {
	const n, edits = 50_000, 2_000
	for name, element := range map[string]func(r *rand.Rand, i int) int32{
		"few kinds":  func(r *rand.Rand, _ int) int32 { return r.Int32N(50) },
		"all others": func(_ *rand.Rand, i int) int32 { return int32(i) },
	} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			a := make([]int32, n)
			for i := range a {
				a[i] = element(r, i)
			}
			b := slices.Clone(a)
			for i := range edits / 2 {
				at := r.IntN(n)
				b = slices.Insert(b, at, element(r, n+i))
				at = r.IntN(n)
				b = slices.Delete(b, at, at+1)
			}
			work := match.Work(0)
			found := common(a, b, &work)
			verify(t, a, b, found)
			if lost := n - len(found); lost > edits*6/10 {
				t.Errorf("common missed %d equal elements, want at most %d", lost, edits*6/10)
			}
			if work < match.Work(0)/4 {
				t.Errorf("common spent %d of its budget of %d, want at most three quarters", match.Work(0)-work, match.Work(0))
			}
		})
	}
}
