package diff

import (
	"cmp"
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
// What a resource looks like depends on which ones it refers to, so it comes after those. Each is looked at once.
//
// If there is a settler, what it settles counts as the same.
func recognize(olds, news []*lumigl.Vertex, s *settler, views ...view) []*lumigl.Vertex {
	from := make([]*lumigl.Vertex, len(news))
	if len(olds) == 0 || len(news) == 0 {
		return from
	}
	work := int64(math.MaxInt64)
	m := matcher{
		hasher: hasher{work: &work, settler: s}, settler: s, views: views,
		olds: olds, found: make([]bool, len(olds)),
		news: news, from: from, places: make(map[*lumigl.Vertex]int32, len(news)),
	}
	for _, view := range views {
		looks := newChains[uint64](len(olds))
		for i := range olds {
			m.look(olds, int32(i), view, looks, true)
		}
		m.looks = append(m.looks, looks)
	}
	m.hasher.as = func(v *lumigl.Vertex) string { return m.was(v).Key() }
	for i, v := range news {
		m.places[v] = int32(i)
	}
	dependents, waiting := m.dependents()
	var ready []int32
	for i, n := range waiting {
		if n == 0 {
			ready = append(ready, int32(i))
		}
	}
	for len(ready) > 0 {
		m.round(ready)
		var next []int32
		for _, i := range ready {
			for _, dependent := range dependents.take(i) {
				if waiting[dependent]--; waiting[dependent] == 0 {
					next = append(next, dependent)
				}
			}
		}
		ready = next
	}
	return from
}

// matcher recognizes resources, which it knows by their places among the old or the new ones: there may be very many.
type matcher struct {
	hasher     hasher
	settler    *settler
	views      []view
	olds, news []*lumigl.Vertex
	// looks are the old resources by the hashes of what each view shows.
	looks []*chains[uint64]
	// found says which old resources some new one was, from has what the new ones were, and places where those stand.
	found  []bool
	from   []*lumigl.Vertex
	places map[*lumigl.Vertex]int32
}

// dependents are the new resources that refer to others of these, and of how many.
func (m *matcher) dependents() (by *chains[int32], waiting []int32) {
	by, waiting = newChains[int32](len(m.news)), make([]int32, len(m.news))
	for i, v := range m.news {
		for target := range v.Properties.References() {
			if to, ok := m.places[target]; ok {
				waiting[i]++
				by.add(to, int32(i))
			}
		}
	}
	return by, waiting
}

// was is what a resource was, or itself if it is not known to have been another one.
func (m *matcher) was(v *lumigl.Vertex) *lumigl.Vertex {
	if i, ok := m.places[v]; ok {
		return cmp.Or(m.from[i], v)
	}
	return v
}

// look adds the place of a resource to those that look like it.
func (m *matcher) look(all []*lumigl.Vertex, place int32, view view, looks *chains[uint64], old bool) {
	if v, ok := view(all[place], old); ok {
		looks.add(mix(m.hasher.text(string(all[place].Type)), m.hasher.value(v)), place)
	}
}

// round recognizes those resources of which nothing is left to find out.
func (m *matcher) round(ready []int32) {
	for i, view := range m.views {
		looks := newChains[uint64](len(ready))
		for _, place := range ready {
			if m.from[place] == nil {
				m.look(m.news, place, view, looks, false)
			}
		}
		for h := range looks.first {
			m.match(m.looks[i].take(h), looks.take(h), view)
		}
	}
}

// match pairs resources that look the same: first by the ids that the provider gave them, then those that are the only
// ones left. Two with different ids are two.
func (m *matcher) match(olds, news []int32, view view) {
	olds = slices.DeleteFunc(olds, func(old int32) bool { return m.found[old] })
	if len(olds) == 0 {
		return
	}
	if len(olds)+len(news) > 2 {
		olds, news = m.matchIDs(olds, news, view)
	}
	if len(olds) == 1 && len(news) == 1 {
		if old, new := m.olds[olds[0]].ID, m.news[news[0]].ID; old == new || old == "" || new == "" {
			m.pair(olds[0], news[0], view)
		}
	}
}

// matchIDs pairs those resources of which each has an id that no other one on its side has, and returns the others.
func (m *matcher) matchIDs(olds, news []int32, view view) (leftOlds, leftNews []int32) {
	type holders struct{ old, new, olds, news int32 }
	byID := make(map[string]holders, max(len(olds), len(news)))
	for _, i := range olds {
		h := byID[m.olds[i].ID]
		h.old, h.olds = i, h.olds+1
		byID[m.olds[i].ID] = h
	}
	for _, i := range news {
		h := byID[m.news[i].ID]
		h.new, h.news = i, h.news+1
		byID[m.news[i].ID] = h
	}
	delete(byID, "")
	one := func(id string) bool { h := byID[id]; return h.olds == 1 && h.news == 1 }
	for _, i := range news {
		if id := m.news[i].ID; one(id) {
			m.pair(byID[id].old, i, view)
		}
	}
	return slices.DeleteFunc(olds, func(i int32) bool { return one(m.olds[i].ID) }),
		slices.DeleteFunc(news, func(i int32) bool { return one(m.news[i].ID) })
}

// pair notes that a resource is recognized, if the two really look the same, and not only their hashes.
func (m *matcher) pair(oldPlace, newPlace int32, view view) {
	old, new := m.olds[oldPlace], m.news[newPlace]
	was, _ := view(old, true)
	is, _ := view(new, false)
	if m.settler != nil {
		is = m.settler.value(is, was)
	}
	if old.Type == new.Type && was.Equal(is.Retarget(m.was)) {
		m.from[newPlace], m.found[oldPlace] = old, true
		if m.settler != nil {
			m.settler.recognized(old, new)
		}
	}
}

// chains are lists of places by a key, in few pieces of memory.
type chains[K comparable] struct {
	first map[K]int32 // among the links, counted from 1
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

// take removes the list of a key, and returns it in order.
func (c *chains[K]) take(key K) []int32 {
	var places []int32
	for at := c.first[key]; at > 0; at = c.links[at-1].next {
		places = append(places, c.links[at-1].place)
	}
	delete(c.first, key)
	slices.Reverse(places)
	return places
}
