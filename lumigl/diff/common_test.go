package diff

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestCommon holds what is found against the textbook's table, and against what must hold when there is no more work to
// spend.
func TestCommon(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		list := rapid.SliceOfN(rapid.Int32Range(0, 5), 0, 30)
		a, b := list.Draw(rt, "a"), list.Draw(rt, "b")
		work := int64(math.MaxInt64)
		found := common(a, b, &work)
		verify(rt, a, b, found)
		if want := longest(a, b); len(found) != want {
			rt.Fatalf("%d in common, want %d", len(found), want)
		}
		none := int64(0)
		verify(rt, a, b, common(a, b, &none))
	})
}

func verify(t *rapid.T, a, b []int32, found []match) {
	last := match{-1, -1}
	for _, m := range found {
		if m.a <= last.a || m.b <= last.b || a[m.a] != b[m.b] {
			t.Fatalf("%v is no common subsequence", found)
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

// TestAnchors is for lists that are too different to find the most that they have in common.
func TestAnchors(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a := rapid.Permutation([]int32{1, 2, 3, 4, 5, 6, 7, 8}).Draw(rt, "a")
		b := rapid.Permutation([]int32{1, 2, 3, 4, 5, 6, 7, 8}).Draw(rt, "b")
		found := anchors(shared(a, b), shared(b, a))
		verify(rt, a, b, found)
		if want := longest(a, b); len(found) != want {
			rt.Fatalf("%d in common, want %d", len(found), want)
		}
	})
}
