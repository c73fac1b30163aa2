package diff

import (
	"slices"

	"github.com/lumi-idl/lumi/lumigl"
)

// maxPairing limits the number of elements per list in the search for the best pairs, which takes quadratic time.
const maxPairing = 256

// pairs matches old elements with similar new ones. The lists have no elements in common. Unpaired elements were
// removed or added. The result is in order, with removed elements before added ones.
func (c *comparer) pairs(a, b []lumigl.Value) []link {
	if len(a) > 0 && len(b) > 0 && len(a) <= maxPairing && len(b) <= maxPairing {
		as, bs := c.profiles(a), c.profiles(b)
		if c.Work > 0 && c.affords(as, bs) {
			return best(as, bs)
		}
	}
	pairs := make([]link, 0, max(len(a), len(b)))
	for i := range max(len(a), len(b)) {
		switch {
		case i >= len(a):
			pairs = append(pairs, link{NoIndex, i})
		case i >= len(b):
			pairs = append(pairs, link{i, NoIndex})
		default:
			pairs = append(pairs, link{i, i})
		}
	}
	return pairs
}

// profile describes an element for comparison with others.
type profile struct {
	kind lumigl.Kind
	// opaque is set for unknown and secret elements, whose content could be anything.
	opaque bool
	// members lists the sorted hashes of an object's members.
	members []uint64
}

func (c *comparer) profiles(values []lumigl.Value) []profile {
	all := make([]profile, 0, len(values))
	for _, v := range values {
		p := profile{kind: v.Kind(), opaque: v.IsUnknown() || v.IsSecret()}
		for key, m := range v.Members() {
			p.members = append(p.members, c.Member(key, m))
		}
		slices.Sort(p.members)
		all = append(all, p)
	}
	return all
}

// affords reports whether comparing each element of a with each element of b takes at most half of the remaining
// budget.
func (c *comparer) affords(a, b []profile) bool {
	cost := int64(0)
	for i := range a {
		cost += int64(len(b) * (1 + len(a[i].members)))
	}
	for i := range b {
		cost += int64(len(a) * (1 + len(b[i].members)))
	}
	if cost > c.Work/2 {
		return false
	}
	c.Work -= cost
	return true
}

// Similarities of two elements. The maximum, exact, means that all members are equal.
const (
	alikeOpaque = 100
	alikeKind   = 10
	exact       = 1000
)

// alike returns the similarity of two elements. It is 0 if they are unrelated.
func (p *profile) alike(q *profile, samePlace bool) int {
	if p.opaque || q.opaque {
		return alikeOpaque
	}
	if p.kind != q.kind {
		return 0
	}
	kind := 0
	if samePlace {
		kind = alikeKind
	}
	most := max(len(p.members), len(q.members))
	if most == 0 {
		return kind
	}
	equal := 0
	for i, j := 0, 0; i < len(p.members) && j < len(q.members); {
		switch {
		case p.members[i] < q.members[j]:
			i++
		case p.members[i] > q.members[j]:
			j++
		default:
			equal, i, j = equal+1, i+1, j+1
		}
	}
	return kind + exact*equal/most
}

// best returns the pairs with the highest total similarity, in order. Elements that share only their kind are paired
// only if they have the same index and the lists have the same length.
func best(a, b []profile) []link {
	same := len(a) == len(b)
	// sum[i][j] is the highest total for a[i:] and b[j:].
	sum := make([][]int, len(a)+1)
	for i := range sum {
		sum[i] = make([]int, len(b)+1)
	}
	score := func(i, j int) int { return a[i].alike(&b[j], same && i == j) }
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			sum[i][j] = max(sum[i+1][j], sum[i][j+1])
			if s := score(i, j); s > 0 {
				sum[i][j] = max(sum[i][j], s+sum[i+1][j+1])
			}
		}
	}
	var pairs []link
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch s := score(i, j); {
		case s > 0 && sum[i][j] == s+sum[i+1][j+1]:
			pairs = append(pairs, link{i, j})
			i, j = i+1, j+1
		case sum[i][j] == sum[i+1][j]:
			pairs = append(pairs, link{i, NoIndex})
			i++
		default:
			pairs = append(pairs, link{NoIndex, j})
			j++
		}
	}
	for ; i < len(a); i++ {
		pairs = append(pairs, link{i, NoIndex})
	}
	for ; j < len(b); j++ {
		pairs = append(pairs, link{NoIndex, j})
	}
	return pairs
}
