package match

import (
	"cmp"
	"math"
	"slices"

	"github.com/lumi-idl/lumi/lumigl"
)

// Pair is an old resource and the new one that was recognized as it.
type Pair struct{ Old, New *lumigl.Vertex }

// View returns the part of a resource that it is recognized by. It returns false if there is none. The part may be
// smaller for an old resource than for a new one.
type View func(r *lumigl.Vertex, old bool) (lumigl.Value, bool)

// Recognize finds new resources that are old ones under another key: those of one type for which the first view returns
// equal values or, failing that, the next one. Where several look the same, none is recognized, unless the provider's
// ids tell them apart. The pairs are in the order of the new resources. e may be nil.
func Recognize(olds, news []*lumigl.Vertex, e Equivalence, views ...View) []Pair {
	if len(olds) == 0 || len(news) == 0 {
		return nil
	}
	m := matcher{
		olds: olds, taken: make([]int32, len(olds)),
		news: news, from: make([]int32, len(news)), places: make(map[*lumigl.Vertex]int32, len(news)),
	}
	m.hasher = Hasher{
		Work: math.MaxInt64, Equivalence: e, key: func(v *lumigl.Vertex) string { return m.was(v).Key() },
	}
	for i, v := range news {
		m.places[v] = int32(i)
	}
	// What one view made known may make others look the same in another view.
	for passes, left := 0, len(views); left > 0 && passes < maxPasses; passes++ {
		if left--; m.pass(views[passes%len(views)]) {
			left = len(views) - 1
		}
	}
	var pairs []Pair
	for i, from := range m.from {
		if from > 0 {
			pairs = append(pairs, Pair{Old: olds[from-1], New: news[i]})
		}
	}
	return pairs
}

// maxPasses is how often resources are looked at, so that it takes time in proportion to them.
const maxPasses = 16

// matcher recognizes resources, which it knows by their places among the old or the new ones: there may be very many.
type matcher struct {
	hasher     Hasher
	olds, news []*lumigl.Vertex
	// from has the places, counted from 1, of what the new ones were, and taken of what the old ones are.
	from, taken []int32
	// places are those of the new ones.
	places map[*lumigl.Vertex]int32

	// The rest belongs to a pass. looks are those of the old resources, in order.
	view  View
	looks []look
	// dependents has for each new resource those of which the view shows that they refer to it, and waiting to how many a
	// resource refers that have not been looked at.
	dependents [][]int32
	waiting    []int32
	recognized int
}

// look is the hash of what a view shows of the resource at a place.
type look struct {
	hash  uint64
	place int32
	// met counts the rounds in which new resources looked like this old one. Of some that look the same, the first has it.
	met int32
}

func compareLooks(a, b look) int { return cmp.Compare(a.hash, b.hash) }

// same returns how many looks at the beginning are the same.
func same(looks []look) int {
	n := 1
	for n < len(looks) && looks[n].hash == looks[0].hash {
		n++
	}
	return n
}

// was is what a resource was, or itself if it is not known to have been another one.
func (m *matcher) was(v *lumigl.Vertex) *lumigl.Vertex {
	if i, ok := m.places[v]; ok && m.from[i] > 0 {
		return m.olds[m.from[i]-1]
	}
	return v
}

// pass looks in one view at all resources that are not recognized yet, and reports whether some are then. What a
// resource looks like depends on which ones it refers to, so it comes after those.
func (m *matcher) pass(view View) bool {
	m.view, m.recognized, m.looks = view, 0, m.looks[:0]
	for i, v := range m.olds {
		if m.taken[i] == 0 {
			m.looks = m.look(m.looks, v, int32(i), true)
		}
	}
	if len(m.looks) == 0 {
		return false
	}
	slices.SortFunc(m.looks, compareLooks)
	ready := m.wait()
	for len(ready) > 0 {
		m.round(ready)
		var next []int32
		for _, i := range ready {
			if m.from[i] == 0 && m.hasher.Equivalence == nil {
				continue // What refers to a new one is new itself: no old one does. An equivalence may know better.
			}
			for _, dependent := range m.dependents[i] {
				if m.waiting[dependent]--; m.waiting[dependent] == 0 {
					next = append(next, dependent)
				}
			}
		}
		ready = next
	}
	return m.recognized > 0
}

// wait finds out which new resources have to wait for which, and returns those that need not.
func (m *matcher) wait() (ready []int32) {
	m.dependents, m.waiting = make([][]int32, len(m.news)), make([]int32, len(m.news))
	for i, v := range m.news {
		if m.from[i] > 0 {
			continue
		}
		seen, _ := m.view(v, false)
		for target := range seen.References() {
			if to, ok := m.places[target]; ok && m.from[to] == 0 {
				m.waiting[i]++
				m.dependents[to] = append(m.dependents[to], int32(i))
			}
		}
		if m.waiting[i] == 0 {
			ready = append(ready, int32(i))
		}
	}
	return ready
}

// look appends what a resource looks like, if the view shows anything of it.
func (m *matcher) look(looks []look, r *lumigl.Vertex, place int32, old bool) []look {
	if v, ok := m.view(r, old); ok {
		return append(looks, look{hash: mix(m.hasher.text(string(r.Type)), m.hasher.Value(v)), place: place})
	}
	return looks
}

// round recognizes those resources of which nothing is left to find out.
func (m *matcher) round(ready []int32) {
	news := make([]look, 0, len(ready))
	for _, place := range ready {
		news = m.look(news, m.news[place], place, false)
	}
	slices.SortFunc(news, compareLooks)
	for len(news) > 0 {
		group := news[:same(news)]
		news = news[len(group):]
		i, found := slices.BinarySearchFunc(m.looks, group[0], compareLooks)
		if !found {
			continue
		}
		olds := m.looks[i:]
		olds[0].met++
		switch olds[0].met {
		case 1:
			m.match(olds[:same(olds)], group)
		case 2:
			m.doubt(olds[:same(olds)])
		}
	}
}

// doubt takes back what was recognized, since another resource has turned out to look the same, unless the provider's id
// says which is which.
func (m *matcher) doubt(olds []look) {
	var back []int32
	for _, old := range olds {
		if new := m.taken[old.place] - 1; new >= 0 && (m.olds[old.place].ID == "" || m.olds[old.place].ID != m.news[new].ID) {
			back = append(back, new)
		}
	}
	for len(back) > 0 {
		new := back[len(back)-1]
		back = back[:len(back)-1]
		if m.from[new] == 0 {
			continue
		}
		m.taken[m.from[new]-1], m.from[new] = 0, 0
		m.recognized--
		if m.hasher.Equivalence != nil {
			m.hasher.Equivalence.Recognize(nil, m.news[new])
		}
		back = append(back, m.dependents[new]...) // which were recognized by it
	}
}

// match pairs resources that look the same: first by the ids that the provider gave them, then those that are the only
// ones left. Two with different ids are two.
func (m *matcher) match(olds, news []look) {
	if len(olds)+len(news) > 2 {
		type holders struct{ old, olds, news int32 } // old is a place, the others are numbers of resources
		byID := make(map[string]holders, max(len(olds), len(news)))
		for _, old := range olds {
			id := m.olds[old.place].ID
			byID[id] = holders{old: old.place, olds: byID[id].olds + 1}
		}
		for _, new := range news {
			h := byID[m.news[new.place].ID]
			h.news++
			byID[m.news[new.place].ID] = h
		}
		delete(byID, "")
		isPair := func(id string) bool { return byID[id].olds == 1 && byID[id].news == 1 }
		for _, new := range news {
			if id := m.news[new.place].ID; isPair(id) {
				m.pair(byID[id].old, new.place)
			}
		}
		olds = slices.DeleteFunc(slices.Clone(olds), func(l look) bool { return isPair(m.olds[l.place].ID) })
		news = slices.DeleteFunc(news, func(l look) bool { return isPair(m.news[l.place].ID) })
	}
	if len(olds) == 1 && len(news) == 1 {
		if a, b := m.olds[olds[0].place].ID, m.news[news[0].place].ID; a == b || a == "" || b == "" {
			m.pair(olds[0].place, news[0].place)
		}
	}
}

// pair notes that a resource is recognized, if the two really look the same, and not only their hashes.
func (m *matcher) pair(oldPlace, newPlace int32) {
	old, new := m.olds[oldPlace], m.news[newPlace]
	was, _ := m.view(old, true)
	is, _ := m.view(new, false)
	if m.hasher.Equivalence != nil {
		is = m.hasher.Equivalence.Rewrite(is, was)
	}
	if old.Type == new.Type && was.Equal(is.Retarget(m.was)) {
		m.from[newPlace], m.taken[oldPlace] = oldPlace+1, newPlace+1
		m.recognized++
		if m.hasher.Equivalence != nil {
			m.hasher.Equivalence.Recognize(old, new)
		}
	}
}
