package lumigl

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A queue gives what a sorted list would.
func TestQueue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int{1, 2, 63, 64, 65, 4095, 4096, 4097, 300_000}).Draw(t, "size")
		q := newQueue(size)
		var sorted []int32
		for range rapid.IntRange(0, 200).Draw(t, "steps") {
			if n := int32(rapid.IntRange(0, size-1).Draw(t, "number")); rapid.Bool().Draw(t, "push") {
				q.push(n)
				if i, found := slices.BinarySearch(sorted, n); !found {
					sorted = slices.Insert(sorted, i, n)
				}
			} else if len(sorted) > 0 {
				if got := q.pop(); got != sorted[0] {
					t.Fatalf("popped %d, want %d", got, sorted[0])
				}
				sorted = sorted[1:]
			}
		}
	})
}
