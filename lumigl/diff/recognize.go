package diff

import (
	"math"
	"slices"

	"github.com/lumi-idl/lumi/lumigl"
)

// view is that part of a resource by which it is recognized under another URN. It reports false if there is none. It may
// see less of a resource that was there before than of one that is new.
type view func(r *lumigl.Vertex, old bool) (lumigl.Value, bool)

// recognize finds out which new resources are old ones under another URN, by what can be seen of them: all that the
// first view shows, or else all that the next one does. Where several look the same, none is recognized: nobody could say
// which is which. It returns what each of the new ones was, or nil.
//
// If there is a settler, what it settles counts as the same.
func recognize(olds, news []*lumigl.Vertex, s *settler, views ...view) []*lumigl.Vertex {
	was := make([]*lumigl.Vertex, len(news))
	if len(olds) == 0 || len(news) == 0 {
		return was
	}
	work := int64(math.MaxInt64)
	m := matcher{
		hasher: hasher{work: &work, settler: s}, settler: s,
		olds: olds, taken: make([]int32, len(olds)),
		news: news, from: make([]int32, len(news)), places: make(map[*lumigl.Vertex]int32, len(news)),
	}
	m.hasher.as = func(v *lumigl.Vertex) string { return m.was(v).Key() }
	for i, v := range news {
		m.places[v] = int32(i)
	}
	// What one view made known may make others look the same in another view.
	for passes, left := 0, len(views); left > 0 && passes < maxPasses; passes++ {
		if left--; m.pass(views[passes%len(views)]) {
			left = len(views) - 1
		}
	}
	for i, from := range m.from {
		if from > 0 {
			was[i] = m.olds[from-1]
		}
	}
	return was
}

// maxPasses is how often resources are looked at, so that it takes time in proportion to them.
const maxPasses = 16

// matcher recognizes resources, which it knows by their places among the old or the new ones: there may be very many.
type matcher struct {
	hasher     hasher
	settler    *settler
	olds, news []*lumigl.Vertex
	// from has the places, counted from 1, of what the new ones were, and taken of what the old ones are.
	from, taken []int32
	// places are where the new ones stand.
	places map[*lumigl.Vertex]int32
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
func (m *matcher) pass(view view) bool {
	p := pass{matcher: m, view: view, looks: newChains[uint64](unset(m.taken))}
	for i := range m.olds {
		if m.taken[i] == 0 {
			p.look(m.olds, int32(i), p.looks, true)
		}
	}
	if len(p.looks.links) == 0 {
		return false
	}
	ready := p.wait()
	for len(ready) > 0 {
		p.round(ready)
		var next []int32
		for _, i := range ready {
			if p.from[i] == 0 && m.settler == nil {
				continue // What refers to a new one is new itself: no old one does. A settler may know better.
			}
			for _, dependent := range p.dependents.list(i) {
				if p.waiting[dependent]--; p.waiting[dependent] == 0 {
					next = append(next, dependent)
				}
			}
		}
		ready = next
	}
	return p.recognized > 0
}

// unset is how many places are none.
func unset(places []int32) int {
	n := 0
	for _, place := range places {
		if place == 0 {
			n++
		}
	}
	return n
}

// pass is what is known while resources are looked at.
type pass struct {
	*matcher
	view view
	// looks are the old resources by the hashes of what the view shows.
	looks *chains[uint64]
	// dependents are the new resources of which the view shows that they refer to others of these, and waiting says to how
	// many that have not been looked at.
	dependents *chains[int32]
	waiting    []int32
	recognized int
}

// wait finds out which new resources have to wait for which, and returns those that need not.
func (p *pass) wait() (ready []int32) {
	p.dependents, p.waiting = newChains[int32](unset(p.from)), make([]int32, len(p.news))
	for i, v := range p.news {
		if p.from[i] > 0 {
			continue
		}
		seen, _ := p.view(v, false)
		for target := range seen.References() {
			if to, ok := p.places[target]; ok && p.from[to] == 0 {
				p.waiting[i]++
				p.dependents.add(to, int32(i))
			}
		}
		if p.waiting[i] == 0 {
			ready = append(ready, int32(i))
		}
	}
	return ready
}

// look adds the place of a resource to those that look like it.
func (p *pass) look(all []*lumigl.Vertex, place int32, looks *chains[uint64], old bool) {
	if v, ok := p.view(all[place], old); ok {
		looks.add(mix(p.hasher.text(string(all[place].Type)), p.hasher.value(v)), place)
	}
}

// round recognizes those resources of which nothing is left to find out.
func (p *pass) round(ready []int32) {
	looks := newChains[uint64](len(ready))
	for _, place := range ready {
		p.look(p.news, place, looks, false)
	}
	for h := range looks.first {
		news, _ := looks.take(h)
		if olds, again := p.looks.take(h); again {
			p.doubt(olds)
		} else {
			p.match(olds, news)
		}
	}
}

// doubt takes back what was recognized, since another resource has turned out to look the same, unless the provider's id
// says which is which.
func (p *pass) doubt(olds []int32) {
	var back []int32
	for _, old := range olds {
		if new := p.taken[old] - 1; new >= 0 && (p.olds[old].ID == "" || p.olds[old].ID != p.news[new].ID) {
			back = append(back, new)
		}
	}
	for len(back) > 0 {
		new := back[len(back)-1]
		back = back[:len(back)-1]
		if p.from[new] == 0 {
			continue
		}
		p.taken[p.from[new]-1], p.from[new] = 0, 0
		p.recognized--
		if p.settler != nil {
			p.settler.forget(p.news[new])
		}
		back = append(back, p.dependents.list(new)...) // which were recognized by it
	}
}

// match pairs resources that look the same: first by the ids that the provider gave them, then those that are the only
// ones left. Two with different ids are two.
func (p *pass) match(olds, news []int32) {
	if len(olds) == 0 {
		return
	}
	if len(olds)+len(news) > 2 {
		olds, news = p.matchIDs(olds, news)
	}
	if len(olds) == 1 && len(news) == 1 {
		if old, new := p.olds[olds[0]].ID, p.news[news[0]].ID; old == new || old == "" || new == "" {
			p.pair(olds[0], news[0])
		}
	}
}

// matchIDs pairs those resources of which each has an id that no other one on its side has, and returns the others.
func (p *pass) matchIDs(olds, news []int32) (leftOlds, leftNews []int32) {
	type holders struct{ old, new, olds, news int32 }
	byID := make(map[string]holders, max(len(olds), len(news)))
	for _, i := range olds {
		h := byID[p.olds[i].ID]
		h.old, h.olds = i, h.olds+1
		byID[p.olds[i].ID] = h
	}
	for _, i := range news {
		h := byID[p.news[i].ID]
		h.new, h.news = i, h.news+1
		byID[p.news[i].ID] = h
	}
	delete(byID, "")
	one := func(id string) bool { h := byID[id]; return h.olds == 1 && h.news == 1 }
	for _, i := range news {
		if id := p.news[i].ID; one(id) {
			p.pair(byID[id].old, i)
		}
	}
	return slices.DeleteFunc(olds, func(i int32) bool { return one(p.olds[i].ID) }),
		slices.DeleteFunc(news, func(i int32) bool { return one(p.news[i].ID) })
}

// pair notes that a resource is recognized, if the two really look the same, and not only their hashes.
func (p *pass) pair(oldPlace, newPlace int32) {
	old, new := p.olds[oldPlace], p.news[newPlace]
	was, _ := p.view(old, true)
	is, _ := p.view(new, false)
	if p.settler != nil {
		is = p.settler.value(is, was)
	}
	if old.Type == new.Type && was.Equal(is.Retarget(p.was)) {
		p.from[newPlace], p.taken[oldPlace] = oldPlace+1, newPlace+1
		p.recognized++
		if p.settler != nil {
			p.settler.recognize(old, new)
		}
	}
}

// chains are lists of places by a key, in few pieces of memory.
type chains[K comparable] struct {
	first map[K]int32 // among the links, counted from 1, and negative if the list was taken
	links []link
}

type link struct{ place, next int32 }

func newChains[K comparable](size int) *chains[K] {
	return &chains[K]{first: make(map[K]int32, size), links: make([]link, 0, size)}
}

func (c *chains[K]) add(key K, place int32) {
	c.links = append(c.links, link{place, c.first[key]})
	c.first[key] = int32(len(c.links))
}

// list returns the list of a key in order.
func (c *chains[K]) list(key K) []int32 {
	first := c.first[key]
	var places []int32
	for at := max(first, -first); at > 0; at = c.links[at-1].next {
		places = append(places, c.links[at-1].place)
	}
	slices.Reverse(places)
	return places
}

// take returns the list of a key, and whether it is the second time. There is no third.
func (c *chains[K]) take(key K) (places []int32, again bool) {
	places = c.list(key)
	switch first := c.first[key]; {
	case first > 0:
		c.first[key] = -first
	case first < 0:
		delete(c.first, key)
		again = true
	}
	return places, again
}
