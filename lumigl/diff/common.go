package diff

import "slices"

// link is a pair of indices into two lists. One of them may be NoIndex.
type link struct{ a, b int }

// common returns a longest common subsequence of two lists, or a shorter one if the work budget is too small.
func common(a, b []int32, work *int64) []link {
	start := 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	end := 0
	for end < len(a)-start && end < len(b)-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	matches := make([]link, 0, start+end)
	for i := range start {
		matches = append(matches, link{i, i})
	}
	matches = append(matches, between(items(a, start, len(a)-end), items(b, start, len(b)-end), work)...)
	for i := end; i > 0; i-- {
		matches = append(matches, link{len(a) - i, len(b) - i})
	}
	return matches
}

// item is an element and its index.
type item struct {
	name  int32
	place int
}

// items returns the elements of list[start:end] with their indices in list.
func items(list []int32, start, end int) []item {
	all := make([]item, 0, end-start)
	for place := start; place < end; place++ {
		all = append(all, item{list[place], place})
	}
	return all
}

// shared returns the elements of list that also occur in other.
func shared(list, other []item) []item {
	in := make(map[int32]struct{}, len(other))
	for _, o := range other {
		in[o.name] = struct{}{}
	}
	var all []item
	for _, e := range list {
		if _, ok := in[e.name]; ok {
			all = append(all, e)
		}
	}
	return all
}

// between returns the indices of a common subsequence. It is a longest one if the lists differ in at most maxEdits
// elements. Otherwise, the lists are split at elements that are unique in both, and each part is processed greedily in
// stretches.
func between(a, b []item, work *int64) []link {
	// Only elements that occur in both lists can match. They are often few.
	a, b = shared(a, b), shared(b, a)
	found, end := myers(a, b, work)
	if end.a == len(a) && end.b == len(b) {
		return found
	}
	// Leave some of the budget for later lists.
	most := *work / 2
	left := most
	found = nil
	i, j := 0, 0
	for _, m := range append(anchors(a, b), link{len(a), len(b)}) {
		as, bs := shared(a[i:m.a], b[j:m.b]), shared(b[j:m.b], a[i:m.a])
		for len(as) > 0 && len(bs) > 0 && left > 0 {
			stretch, end := myers(as, bs, &left)
			found = append(found, stretch...)
			as, bs = as[end.a:], bs[end.b:]
		}
		if m.a < len(a) {
			found = append(found, link{a[m.a].place, b[m.b].place})
		}
		i, j = m.a+1, m.b+1
	}
	*work -= most - left
	return found
}

// maxEdits limits the edit distance of exact solutions, which take memory quadratic in it.
const maxEdits = 512

// myers returns the indices of a longest common subsequence of prefixes of both lists, and the lengths of the prefixes.
// The prefixes are the whole lists unless that takes too many edits or too much work. The algorithm is the greedy one
// in Eugene W. Myers, "An O(ND) Difference Algorithm and Its Variations".
func myers(a, b []item, work *int64) ([]link, link) {
	if len(a) == 0 || len(b) == 0 {
		return nil, link{len(a), len(b)}
	}
	// reaches[d][(k+d)/2] is the furthest index in a on diagonal k (index in a minus index in b) with d edits. All rows
	// are kept to trace the path back.
	var reaches [][]int32
	for d := range maxEdits + 1 {
		reach := make([]int32, d+1)
		var end link // furthest in both lists
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
			reach[(k+d)/2] = x
			*work -= 1 + int64(x-from)
			if int(x) <= len(a) && int(y) <= len(b) && int(x)+int(y) >= end.a+end.b {
				end = link{int(x), int(y)}
			}
		}
		reaches = append(reaches, reach)
		if end.a == len(a) && end.b == len(b) || d == maxEdits || *work <= 0 {
			found := way(reaches, end.a, end.b)
			for i, m := range found {
				found[i] = link{a[m.a].place, b[m.b].place}
			}
			return found, end
		}
	}
	return nil, link{}
}

// furthest returns the furthest index in a on diagonal k with d+1 edits. reach is the row for d edits.
func furthest(reach []int32, d, k int) int32 {
	x := int32(-1)
	if k-1 >= -d && k-1 <= d {
		x = reach[(k-1+d)/2] + 1
	}
	if k+1 >= -d && k+1 <= d {
		x = max(x, reach[(k+1+d)/2])
	}
	return x
}

// way returns the matches on the path to (x, y), which it traces back.
func way(reaches [][]int32, x, y int) []link {
	var matches []link
	for d := len(reaches) - 1; d >= 0; d-- {
		start := 0
		if d > 0 {
			start = int(furthest(reaches[d-1], d-1, x-y))
		}
		for x > start {
			x, y = x-1, y-1
			matches = append(matches, link{x, y})
		}
		if d == 0 {
			break
		}
		before := reaches[d-1]
		if k := x - y - 1; k >= -(d-1) && k <= d-1 && int(before[(k+d-1)/2])+1 == x {
			x--
		} else {
			y--
		}
	}
	slices.Reverse(matches)
	return matches
}

// anchors returns a longest common subsequence of the elements that occur once in each list.
func anchors(a, b []item) []link {
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
	var single []link // in the order of a
	for i := range a {
		if p := where[a[i].name]; p.inA == 1 && p.inB == 1 {
			single = append(single, link{p.a, p.b})
		}
	}
	return increasing(single)
}

// increasing returns a longest subsequence of matches with increasing indices in b.
func increasing(matches []link) []link {
	var last []int // for each length, the last match of the subsequence that ends at the lowest index
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
	var longest []link
	for i := last[len(last)-1]; i >= 0; i = previous[i] {
		longest = append(longest, matches[i])
	}
	slices.Reverse(longest)
	return longest
}
