package mask

import (
	"maps"
	"slices"
	"sort"
	"strings"
)

// index finds the texts that a text starts with. Its keys are the first bytes of the texts.
type index map[string]bucket

// bucket has the texts that start with the same bytes, sorted, and for each of them the place of the longest other one
// that it starts with, or -1.
type bucket struct {
	texts []string
	inner []int
}

func newIndex(all map[string]struct{}) index {
	ix := make(index, len(all))
	for _, text := range slices.Sorted(maps.Keys(all)) {
		key := text[:minSecret]
		b := ix[key]
		inner := len(b.texts) - 1
		for inner >= 0 && !strings.HasPrefix(text, b.texts[inner]) {
			inner = b.inner[inner]
		}
		ix[key] = bucket{append(b.texts, text), append(b.inner, inner)}
	}
	return ix
}

// longest returns the length of the longest text that s, which is not too short, starts with, or 0.
func (ix index) longest(s string) int {
	b, ok := ix[s[:minSecret]]
	if !ok {
		return 0
	}
	// The longest is the last one that is not after s, or is one that that starts with.
	i := sort.Search(len(b.texts), func(i int) bool { return b.texts[i] > s }) - 1
	for i >= 0 && !strings.HasPrefix(s, b.texts[i]) {
		i = b.inner[i]
	}
	if i < 0 {
		return 0
	}
	return len(b.texts[i])
}
