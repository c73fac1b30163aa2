package diff

import (
	"cmp"
	"math"

	"github.com/lumi-idl/lumi/lumigl"
)

// view is that part of a resource by which it is recognized under another URN. It reports false if there is none. It may
// see less of a resource that was there before than of one that is new.
type view func(r *lumigl.Vertex, old bool) (lumigl.Value, bool)

// recognize finds out which new resources are old ones under another URN, by what can be seen of them: all that the
// first view shows, or else all that the next one does. Where several look the same, none is recognized: nobody could say
// which is which.
//
// What a resource looks like depends on which ones it refers to, so it comes after those. Each is looked at once.
//
// If there is a settler, what it settles counts as the same.
func recognize(olds, news []*lumigl.Vertex, s *settler, views ...view) map[*lumigl.Vertex]*lumigl.Vertex {
	if len(olds) == 0 || len(news) == 0 {
		return nil
	}
	work := int64(math.MaxInt64)
	m := matcher{settler: s, views: views, from: map[*lumigl.Vertex]*lumigl.Vertex{}, found: map[*lumigl.Vertex]bool{}}
	m.hasher = hasher{work: &work, settler: s}
	for _, view := range views {
		m.olds = append(m.olds, m.byLook(olds, view, true))
	}
	m.hasher.as = m.oldKey

	new := make(map[*lumigl.Vertex]bool, len(news))
	for _, v := range news {
		new[v] = true
	}
	waiting := map[*lumigl.Vertex]int{}                 // for how many that it refers to
	dependents := map[*lumigl.Vertex][]*lumigl.Vertex{} // of those
	var ready []*lumigl.Vertex
	for _, v := range news {
		for target := range v.Properties.References() {
			if new[target] {
				waiting[v]++
				dependents[target] = append(dependents[target], v)
			}
		}
		if waiting[v] == 0 {
			ready = append(ready, v)
		}
	}
	for len(ready) > 0 {
		m.round(ready)
		var next []*lumigl.Vertex
		for _, v := range ready {
			for _, dependent := range dependents[v] {
				if waiting[dependent]--; waiting[dependent] == 0 {
					next = append(next, dependent)
				}
			}
		}
		ready = next
	}
	return m.from
}

// matcher recognizes resources.
type matcher struct {
	hasher  hasher
	settler *settler
	views   []view
	// olds are the old resources by what each view shows.
	olds []map[uint64][]*lumigl.Vertex
	// from is what the recognized resources were, and found has all of these.
	from  map[*lumigl.Vertex]*lumigl.Vertex
	found map[*lumigl.Vertex]bool
}

func (m *matcher) oldKey(v *lumigl.Vertex) string {
	if old, ok := m.from[v]; ok {
		return old.Key()
	}
	return v.Key()
}

// byLook sorts resources by the type and by what a view shows.
func (m *matcher) byLook(all []*lumigl.Vertex, view view, old bool) map[uint64][]*lumigl.Vertex {
	looks := make(map[uint64][]*lumigl.Vertex, len(all))
	for _, r := range all {
		if v, ok := view(r, old); ok {
			h := mix(m.hasher.text(string(r.Type)), m.hasher.value(v))
			looks[h] = append(looks[h], r)
		}
	}
	return looks
}

// round recognizes those resources of which nothing is left to find out.
func (m *matcher) round(ready []*lumigl.Vertex) {
	for i, view := range m.views {
		news := m.byLook(m.left(ready), view, false)
		for h, all := range news {
			m.match(m.leftOld(m.olds[i][h]), all, view)
			delete(m.olds[i], h)
		}
	}
}

// left are those of some new resources that are not recognized.
func (m *matcher) left(news []*lumigl.Vertex) (left []*lumigl.Vertex) {
	for _, v := range news {
		if m.from[v] == nil {
			left = append(left, v)
		}
	}
	return left
}

// leftOld are those of some old resources that none was recognized as.
func (m *matcher) leftOld(olds []*lumigl.Vertex) (left []*lumigl.Vertex) {
	for _, v := range olds {
		if !m.found[v] {
			left = append(left, v)
		}
	}
	return left
}

// match pairs resources that look the same: first by the ids that the provider gave them, then those that are the only
// ones left. Two with different ids are two.
func (m *matcher) match(olds, news []*lumigl.Vertex, view view) {
	if len(olds) == 0 {
		return
	}
	byID := map[string][2][]*lumigl.Vertex{}
	for side, all := range [][]*lumigl.Vertex{olds, news} {
		for _, v := range all {
			pair := byID[v.ID]
			pair[side] = append(pair[side], v)
			byID[v.ID] = pair
		}
	}
	var left [2][]*lumigl.Vertex
	for side, all := range [][]*lumigl.Vertex{olds, news} {
		for _, v := range all {
			pair := byID[v.ID]
			switch {
			case v.ID == "" || len(pair[1-side]) == 0 || len(pair[side]) > 1 || len(pair[1-side]) > 1:
				left[side] = append(left[side], v)
			case side == 1:
				m.pair(pair[0][0], v, view)
			}
		}
	}
	if len(left[0]) == 1 && len(left[1]) == 1 && (left[0][0].ID == "" || left[1][0].ID == "") {
		m.pair(left[0][0], left[1][0], view)
	}
}

// pair notes that a resource is recognized, if the two really look the same, and not only their hashes.
func (m *matcher) pair(old, new *lumigl.Vertex, view view) {
	was, _ := view(old, true)
	is, _ := view(new, false)
	if m.settler != nil {
		is = m.settler.value(is, was)
	}
	is = is.Retarget(func(v *lumigl.Vertex) *lumigl.Vertex { return cmp.Or(m.from[v], v) })
	if old.Type == new.Type && was.Equal(is) {
		m.from[new], m.found[old] = old, true
		if m.settler != nil {
			m.settler.recognized(old, new)
		}
	}
}
