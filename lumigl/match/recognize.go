package match

import (
	"cmp"
	"math"
	"slices"

	"github.com/lumi-idl/lumi/lumigl"
)

// Pair consists of an old resource and its new counterpart.
type Pair struct{ Old, New *lumigl.Vertex }

// Recognize returns pairs of old and new resources with the same type and properties but different keys. Several
// identical resources are told apart by provider id. The pairs are in the order of the new resources.
func Recognize(olds, news []*lumigl.Vertex) []Pair {
	if len(olds) == 0 || len(news) == 0 {
		return nil
	}
	m := matcher{olds: olds, news: news, from: make([]int32, len(news)), places: make(map[*lumigl.Vertex]int32, len(news))}
	m.hasher = Hasher{Work: math.MaxInt64, key: func(v *lumigl.Vertex) string { return m.was(v).Key() }}
	for i, v := range news {
		m.places[v] = int32(i)
	}
	m.recognize()
	var pairs []Pair
	for i, from := range m.from {
		if from > 0 {
			pairs = append(pairs, Pair{Old: olds[from-1], New: news[i]})
		}
	}
	return pairs
}

// matcher recognizes resources. It refers to them by index to save memory.
type matcher struct {
	hasher     Hasher
	olds, news []*lumigl.Vertex
	// from maps the index of a new resource to 1 plus the index of its old counterpart, or to 0 if it has none.
	from []int32
	// places maps each new resource to its index.
	places map[*lumigl.Vertex]int32
	// looks lists the hashes of the old resources, sorted.
	looks []look
	// dependents lists the dependents of each new resource. waiting counts each new resource's references to
	// unprocessed resources.
	dependents [][]int32
	waiting    []int32
}

// look is the hash of a resource and its index.
type look struct {
	hash  uint64
	place int32
}

func compareLooks(a, b look) int { return cmp.Compare(a.hash, b.hash) }

// same returns the length of the run of equal hashes at the start of looks.
func same(looks []look) int {
	n := 1
	for n < len(looks) && looks[n].hash == looks[0].hash {
		n++
	}
	return n
}

// was returns the old counterpart of v if v has been recognized, or v otherwise.
func (m *matcher) was(v *lumigl.Vertex) *lumigl.Vertex {
	if i, ok := m.places[v]; ok && m.from[i] > 0 {
		return m.olds[m.from[i]-1]
	}
	return v
}

// recognize processes all resources, dependencies first, since the hash of a resource depends on them.
func (m *matcher) recognize() {
	for i, v := range m.olds {
		m.looks = append(m.looks, m.look(v, int32(i)))
	}
	slices.SortFunc(m.looks, compareLooks)
	for ready := m.wait(); len(ready) > 0; {
		m.round(ready)
		var next []int32
		for _, i := range ready {
			if m.from[i] == 0 {
				continue // resources that refer to a new one are new too
			}
			for _, dependent := range m.dependents[i] {
				if m.waiting[dependent]--; m.waiting[dependent] == 0 {
					next = append(next, dependent)
				}
			}
		}
		ready = next
	}
}

// wait records the dependencies among new resources. It returns the resources without dependencies.
func (m *matcher) wait() (ready []int32) {
	m.dependents, m.waiting = make([][]int32, len(m.news)), make([]int32, len(m.news))
	for i, v := range m.news {
		for target := range v.Properties.References() {
			if to, ok := m.places[target]; ok {
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

func (m *matcher) look(r *lumigl.Vertex, place int32) look {
	return look{hash: mix(m.hasher.text(string(r.Type)), m.hasher.Value(properties(r))), place: place}
}

// properties returns the properties of a resource, or {} if they are absent.
func properties(r *lumigl.Vertex) lumigl.Value {
	if !r.Properties.Exists() {
		return lumigl.ObjectOf()
	}
	return r.Properties
}

// round recognizes resources whose dependencies have all been processed. Equal resources are always in the same round,
// since they have equal dependencies.
func (m *matcher) round(ready []int32) {
	news := make([]look, 0, len(ready))
	for _, place := range ready {
		news = append(news, m.look(m.news[place], place))
	}
	slices.SortFunc(news, compareLooks)
	for len(news) > 0 {
		group := news[:same(news)]
		news = news[len(group):]
		if i, found := slices.BinarySearchFunc(m.looks, group[0], compareLooks); found {
			m.match(m.looks[i:][:same(m.looks[i:])], group)
		}
	}
}

// match pairs resources with equal hashes, first by provider id. If one resource is left on each side, they are paired
// unless their ids differ.
func (m *matcher) match(olds, news []look) {
	if len(olds)+len(news) > 2 {
		type holders struct{ old, olds, news int32 } // old is an index, the others are counts
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

// pair records a match unless the hashes of the resources collided.
func (m *matcher) pair(oldPlace, newPlace int32) {
	old, new := m.olds[oldPlace], m.news[newPlace]
	if old.Type == new.Type && properties(old).Equal(properties(new).Retarget(m.was)) {
		m.from[newPlace] = oldPlace + 1
	}
}
