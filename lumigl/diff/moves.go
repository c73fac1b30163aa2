package diff

import (
	"cmp"
	"math"

	"github.com/lumi-idl/lumi/lumigl"
)

// moves finds created resources that are the same as one which was deleted. Where several are the same, there is none:
// nobody could say which is which.
//
// Resources that refer to moved ones may have moved too, so they come after those. What refers to a resource that was
// created and has not moved is new itself, so each is looked at once.
func moves(d *Delta) []Move {
	m := mover{delta: d, from: map[*lumigl.Vertex]*lumigl.Vertex{}, deleted: map[uint64][]*lumigl.Vertex{}}
	work := int64(math.MaxInt64)
	old := hasher{work: &work}
	created := map[*lumigl.Vertex]bool{}
	for i := range d.Resources {
		switch r := &d.Resources[i]; r.Kind {
		case Deleted:
			h := content(&old, r.Old)
			m.deleted[h] = append(m.deleted[h], r.Old)
		case Created:
			created[r.New] = true
		}
	}
	if len(m.deleted) == 0 || len(created) == 0 {
		return nil
	}
	m.hasher = hasher{work: &work, as: m.oldKey}
	waiting := map[*lumigl.Vertex]int{}                 // for how many that it refers to
	dependents := map[*lumigl.Vertex][]*lumigl.Vertex{} // of those
	var ready []*lumigl.Vertex
	for i := range d.Resources {
		if r := &d.Resources[i]; r.Kind == Created {
			for target := range r.New.Properties.References() {
				if created[target] {
					waiting[r.New]++
					dependents[target] = append(dependents[target], r.New)
				}
			}
			if waiting[r.New] == 0 {
				ready = append(ready, r.New)
			}
		}
	}
	for len(ready) > 0 {
		moved := m.round(ready)
		ready = nil
		for _, v := range moved {
			for _, dependent := range dependents[v] {
				if waiting[dependent]--; waiting[dependent] == 0 {
					ready = append(ready, dependent)
				}
			}
		}
	}
	return m.inOrder()
}

// mover matches created resources with deleted ones.
type mover struct {
	delta   *Delta
	hasher  hasher
	from    map[*lumigl.Vertex]*lumigl.Vertex // what moved resources were
	deleted map[uint64][]*lumigl.Vertex       // by content
}

func (m *mover) oldKey(v *lumigl.Vertex) string {
	if old, ok := m.from[v]; ok {
		return old.Key()
	}
	return v.Key()
}

// content makes a hash of what a resource is, but for its URN and what tools note about it.
func content(h *hasher, v *lumigl.Vertex) uint64 {
	return mix(h.text(string(v.Type)), h.value(bag(v.Properties)))
}

// round matches resources of which nothing is left to find out, and returns those that moved.
func (m *mover) round(ready []*lumigl.Vertex) []*lumigl.Vertex {
	created := map[uint64][]*lumigl.Vertex{}
	hashes := make([]uint64, len(ready))
	for i, v := range ready {
		hashes[i] = content(&m.hasher, v)
		created[hashes[i]] = append(created[hashes[i]], v)
	}
	for _, h := range hashes {
		m.match(m.deleted[h], created[h])
		delete(m.deleted, h)
	}
	var moved []*lumigl.Vertex
	for _, v := range ready {
		if m.from[v] != nil {
			moved = append(moved, v)
		}
	}
	return moved
}

// match pairs resources of one content: first by the ids that the provider gave them, then those that are the only ones
// left. Two with different ids are two.
func (m *mover) match(deleted, created []*lumigl.Vertex) {
	if len(deleted) == 0 {
		return
	}
	byID := map[string][2][]*lumigl.Vertex{}
	for side, all := range [][]*lumigl.Vertex{deleted, created} {
		for _, v := range all {
			pair := byID[v.ID]
			pair[side] = append(pair[side], v)
			byID[v.ID] = pair
		}
	}
	var left [2][]*lumigl.Vertex
	for side, all := range [][]*lumigl.Vertex{deleted, created} {
		for _, v := range all {
			pair := byID[v.ID]
			switch {
			case v.ID == "" || len(pair[1-side]) == 0 || len(pair[side]) > 1:
				left[side] = append(left[side], v)
			case len(pair[1-side]) > 1:
				left[side] = append(left[side], v)
			case side == 1:
				m.pair(pair[0][0], v)
			}
		}
	}
	if len(left[0]) == 1 && len(left[1]) == 1 && (left[0][0].ID == "" || left[1][0].ID == "") {
		m.pair(left[0][0], left[1][0])
	}
}

// pair notes a move, if the two are really the same, and not only their hashes.
func (m *mover) pair(old, new *lumigl.Vertex) {
	seen := bag(new.Properties).Retarget(func(v *lumigl.Vertex) *lumigl.Vertex { return cmp.Or(m.from[v], v) })
	if old.Type == new.Type && bag(old.Properties).Equal(seen) {
		m.from[new] = old
	}
}

// inOrder are the moves in the order of the new document.
func (m *mover) inOrder() []Move {
	var all []Move
	for i := range m.delta.Resources {
		r := &m.delta.Resources[i]
		if old := m.from[r.New]; old != nil {
			all = append(all, Move{Old: old, New: r.New})
		}
	}
	return all
}
