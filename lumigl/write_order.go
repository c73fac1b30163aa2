package lumigl

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// Sort puts the resources in canonical order: each behind all that it refers to, and where that leaves a choice, by URN.
// The error, an *[InvalidError], is that of [Snapshot.Check].
func (s *Snapshot) Sort() error {
	edges, err := checkedEdges(s)
	if err != nil {
		return err
	}
	s.arrange(canonical(s.vertices, edges))
	return nil
}

// canonical orders vertices without circles.
func canonical(vertices []*Vertex, e *edges) []*Vertex {
	order := make([]*Vertex, len(vertices))
	for i, v := range e.Sort(byKey(vertices)) {
		order[i] = vertices[v]
	}
	return order
}

// byKey returns the places of vertices in the order of their keys.
func byKey(vertices []*Vertex) []int32 {
	keyed := make([]headed, len(vertices))
	for i, v := range vertices {
		keyed[i] = headed{key: v.key, vertex: int32(i)}
	}
	sortKeys(keyed, 0)
	order := make([]int32, len(vertices))
	for place, k := range keyed {
		order[place] = k.vertex
	}
	return order
}

// headed is a key with eight bytes of it, which are compared fast.
type headed struct {
	head   uint64
	vertex int32
	key    string
}

// sortKeys sorts keys that are equal up to a point. URNs have long beginnings in common, which are skipped rather than
// compared again and again.
func sortKeys(keys []headed, from int) {
	for len(keys) > 1 {
		from = common(keys, from)
		for i := range keys {
			keys[i].head = head(keys[i].key[from:])
		}
		slices.SortFunc(keys, func(a, b headed) int {
			return cmp.Or(cmp.Compare(a.head, b.head), cmp.Compare(min(len(a.key)-from, 8), min(len(b.key)-from, 8)))
		})
		// The largest group of equals is left for the loop, so that there is little recursion.
		largest := keys[:0]
		for start := 0; start < len(keys); {
			end := start + 1
			for end < len(keys) && keys[end].head == keys[start].head && len(keys[end].key) >= from+8 && len(keys[start].key) >= from+8 {
				end++
			}
			group := keys[start:end]
			if start = end; len(group) > len(largest) {
				largest, group = group, largest
			}
			sortKeys(group, from+8)
		}
		keys, from = largest, from+8
	}
}

// common returns the length of what all keys begin with. It is known of a part of that.
func common(keys []headed, known int) int {
	first := keys[0].key
	n := len(first)
	for _, k := range keys[1:] {
		n = min(n, len(k.key))
		i := known
		for i < n && k.key[i] == first[i] {
			i++
		}
		n = i
	}
	return n
}

// head returns up to eight bytes as a number that compares as they do.
func head(s string) uint64 {
	var b [8]byte
	copy(b[:], s)
	return binary.BigEndian.Uint64(b[:])
}

// sorted returns members in the order of their keys.
func sorted(members []Member) []Member {
	if slices.IsSortedFunc(members, byName) {
		return members
	}
	members = slices.Clone(members)
	slices.SortStableFunc(members, byName)
	return members
}

func byName(a, b Member) int { return cmp.Compare(a.Key, b.Key) }
