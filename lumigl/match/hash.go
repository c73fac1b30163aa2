package match

import (
	"hash/maphash"

	"github.com/lumi-idl/lumi/lumigl"
)

// Equivalence makes values count as equal that are written differently. It is for [Recognize] and [Hasher].
type Equivalence interface {
	// Hash returns the hash that v shares with all values that are equivalent to it. It returns false if v, apart from
	// its parts, is equivalent only to what it equals. It is asked about references and objects.
	Hash(h *Hasher, v lumigl.Value) (hash uint64, ok bool)
	// Rewrite returns new with those parts written as in old that are equivalent to what stands there in old.
	Rewrite(new, old lumigl.Value) lumigl.Value
	// Recognize says which old resource a new one is taken for from now on: none if old is nil.
	Recognize(old, new *lumigl.Vertex)
}

// Work returns how much work may be done on values of a graph beyond what is in proportion to their size. Real graphs
// need a small part of it.
func Work(vertices int) int64 { return 1<<24 + 1<<8*int64(vertices) }

// Hasher hashes values. Equal values have equal hashes within a process. It has a budget, which other work on values
// may share.
type Hasher struct {
	// Work is what may still be done. Hashes are of no use once it is not positive.
	Work int64
	// Equivalence, if not nil, makes the hashes of equivalent values equal too.
	Equivalence Equivalence
	// key returns the key by which a vertex is referred to. It is nil if that is its own.
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
