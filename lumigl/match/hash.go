package match

import (
	"hash/maphash"

	"github.com/lumi-idl/lumi/lumigl"
)

// Equivalence makes [Recognize] and [Hasher] treat values as equal although they are written differently.
type Equivalence interface {
	// Hash returns the hash that equivalent values share with v, a reference or an object. It returns false if v needs no
	// special hash; its parts may.
	Hash(h *Hasher, v lumigl.Value) (hash uint64, ok bool)
	// Rewrite returns new with its parts written as in old wherever the two are equivalent.
	Rewrite(new, old lumigl.Value) lumigl.Value
	// Recognize is called when new is recognized as old, and with a nil old when that is taken back.
	Recognize(old, new *lumigl.Vertex)
}

// Work returns the budget for a graph: how many values may be looked at beyond what is in proportion to its size. Real
// graphs need a small part of it.
func Work(vertices int) int64 { return 1<<24 + 1<<8*int64(vertices) }

// Hasher hashes values. Within a process, equal values have equal hashes.
type Hasher struct {
	// Work is the budget that is left, which other work on values may share. Hashes are meaningless once it is used up.
	Work int64
	// Equivalence may be nil.
	Equivalence Equivalence
	// key returns the key for references to a vertex. If it is nil, that is the vertex's own.
	key func(*lumigl.Vertex) string
}

var seed = maphash.MakeSeed()

// bytesPerWork is how many bytes cost as much as a value.
const bytesPerWork = 64

// Value returns the hash of a value.
func (h *Hasher) Value(v lumigl.Value) uint64 {
	h.Work--
	if h.Work <= 0 {
		return 0
	}
	kind := uint64(v.Kind()) + 1
	if h.Equivalence != nil && (v.Kind() == lumigl.Reference || v.Kind() == lumigl.Object) {
		if n, ok := h.Equivalence.Hash(h, v); ok {
			return n
		}
	}
	switch v.Kind() {
	case lumigl.Bool:
		if b, _ := v.Bool(); b {
			return mix(kind, 1)
		}
	case lumigl.Number:
		s, _ := v.Literal()
		return mix(kind, h.text(s))
	case lumigl.Text:
		s, _ := v.Text()
		return mix(kind, h.text(s))
	case lumigl.Reference:
		target, property, _ := v.Target()
		key := target.Key()
		if h.key != nil {
			key = h.key(target)
		}
		return mix(mix(kind, h.text(key)), h.text(property))
	case lumigl.List:
		for _, e := range v.Elements() {
			kind = mix(kind, h.Value(e))
		}
	case lumigl.Object:
		sum := uint64(0) // whatever the order
		for key, e := range v.Members() {
			sum += h.Member(key, e)
		}
		return mix(kind, sum)
	}
	return kind
}

// Member returns the hash of an object's member.
func (h *Hasher) Member(key string, v lumigl.Value) uint64 { return mix(h.text(key), h.Value(v)) }

func (h *Hasher) text(s string) uint64 {
	h.Work -= int64(len(s) / bytesPerWork)
	return maphash.String(seed, s)
}

// mix makes one hash of two. It matters which comes first.
func mix(a, b uint64) uint64 {
	const odd = 0x9e3779b97f4a7c15
	x := (a ^ b*odd) + b>>29 + odd
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
