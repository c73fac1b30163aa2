package diff

import "slices"

// match is a place in each of two lists. One of the two may be NoIndex.
type match struct{ a, b int }

// common finds a longest common subsequence of two lists, or, if that takes more work than there is left or than is
// reasonable, a common subsequence that is plain to see.
func common(a, b []int32, work *int64) []match {
	start := 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	end := 0
	for end < len(a)-start && end < len(b)-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	matches := make([]match, 0, start+end)
	for i := range start {
		matches = append(matches, match{i, i})
	}
	// Only elements that are in both lists can be common, and that is often few of them.
	as := shared(a[start:len(a)-end], b[start:len(b)-end])
	bs := shared(b[start:len(b)-end], a[start:len(a)-end])
	between, ok := myers(as, bs, work)
	if !ok {
		between = anchors(as, bs)
	}
	for _, m := range between {
		matches = append(matches, match{as[m.a].place + start, bs[m.b].place + start})
	}
	for i := end; i > 0; i-- {
		matches = append(matches, match{len(a) - i, len(b) - i})
	}
	return matches
}

// item is an element of a list with its place.
type item struct {
	name  int32
	place int
}

// shared are the elements that are in the other list too.
func shared(list, other []int32) []item {
	in := make(map[int32]struct{}, len(other))
	for _, name := range other {
		in[name] = struct{}{}
	}
	var items []item
	for place, name := range list {
		if _, ok := in[name]; ok {
			items = append(items, item{name, place})
		}
	}
	return items
}

// maxEdits is up to how many elements on the way from one list to another a shortest way is looked for. The memory that
// this takes grows with the square.
const maxEdits = 512

// myers finds a longest common subsequence, by the greedy algorithm of Eugene W. Myers, "An O(ND) Difference Algorithm
// and Its Variations". It reports false if that takes too many edits, or too much work.
func myers(a, b []item, work *int64) ([]match, bool) {
	if len(a) == 0 || len(b) == 0 {
		return nil, true
	}
	// reach[k+d] is how far in a one gets on diagonal k, which is the place in a less that in b, with d edits. There is
	// one such list for each d, to find the way back.
	var reaches [][]int32
	for d := range min(maxEdits, len(a)+len(b)) + 1 {
		reach := make([]int32, 2*d+1)
		for k := -d; k <= d; k += 2 {
			x := int32(0)
			if d > 0 {
				x = furthest(reaches[d-1], d-1, k)
			}
			y := x - int32(k)
			from := x
			for int(x) < len(a) && int(y) < len(b) && a[x].name == b[y].name {
				x, y = x+1, y+1
			}
			reach[k+d] = x
			*work -= 1 + int64(x-from)
			if int(x) >= len(a) && int(y) >= len(b) {
				return way(append(reaches, reach), len(a), len(b)), true
			}
		}
		reaches = append(reaches, reach)
		if *work <= 0 {
			return nil, false
		}
	}
	return nil, false
}

// furthest is how far one gets on diagonal k with one more edit than d: by leaving out an element of a, or of b.
func furthest(reach []int32, d, k int) int32 {
	x := int32(-1)
	if k-1 >= -d && k-1 <= d {
		x = reach[k-1+d] + 1
	}
	if k+1 >= -d && k+1 <= d {
		x = max(x, reach[k+1+d])
	}
	return x
}

// way walks back from the ends of both lists.
func way(reaches [][]int32, x, y int) []match {
	var matches []match
	for d := len(reaches) - 1; d >= 0; d-- {
		start := 0
		if d > 0 {
			start = int(furthest(reaches[d-1], d-1, x-y))
		}
		for x > start {
			x, y = x-1, y-1
			matches = append(matches, match{x, y})
		}
		if d == 0 {
			break
		}
		before := reaches[d-1]
		if k := x - y - 1; k >= -(d-1) && k <= d-1 && int(before[k+d-1])+1 == x {
			x--
		} else {
			y--
		}
	}
	slices.Reverse(matches)
	return matches
}

// anchors finds a longest common subsequence of the elements that are in each list just once.
func anchors(a, b []item) []match {
	type places struct{ inA, inB, a, b int }
	where := make(map[int32]*places, len(a))
	for i := range a {
		p := where[a[i].name]
		if p == nil {
			p = &places{}
			where[a[i].name] = p
		}
		p.inA, p.a = p.inA+1, i
	}
	for i := range b {
		if p := where[b[i].name]; p != nil {
			p.inB, p.b = p.inB+1, i
		}
	}
	var single []match // in the order of a
	for i := range a {
		if p := where[a[i].name]; p.inA == 1 && p.inB == 1 {
			single = append(single, match{p.a, p.b})
		}
	}
	return increasing(single)
}

// increasing finds a longest subsequence of matches that is in order in b too.
func increasing(matches []match) []match {
	var last []int // the match that ends the subsequence of each length in the lowest place
	previous := make([]int, len(matches))
	for i, m := range matches {
		n, _ := slices.BinarySearchFunc(last, m.b, func(j, b int) int { return matches[j].b - b })
		previous[i] = -1
		if n > 0 {
			previous[i] = last[n-1]
		}
		if n == len(last) {
			last = append(last, i)
		} else {
			last[n] = i
		}
	}
	if len(last) == 0 {
		return nil
	}
	var longest []match
	for i := last[len(last)-1]; i >= 0; i = previous[i] {
		longest = append(longest, matches[i])
	}
	slices.Reverse(longest)
	return longest
}
