package match

import (
	"hash/maphash"

	"github.com/lumi-idl/lumi/lumigl"
)

// Work returns the work budget for a graph: the number of values that may be visited in addition to linear work. Real
// graphs use only a small fraction of it.
func Work(vertices int) int64 { return 1<<24 + 1<<8*int64(vertices) }

// Hasher hashes values. Equal values have equal hashes within a process.
type Hasher struct {
	// Work is the remaining budget, which may be shared with other work. Hashes are meaningless once it is used up.
	Work int64
	// key returns the key to hash for a reference to a vertex. By default, it is the vertex's own key.
	key func(*lumigl.Vertex) string
}

var seed = maphash.MakeSeed()

// bytesPerWork is the number of bytes of text that cost as much as one value.
const bytesPerWork = 64

// Value returns the hash of a value.
func (h *Hasher) Value(v lumigl.Value) uint64 {
	h.Work--
	if h.Work <= 0 {
		return 0
	}
	kind := uint64(v.Kind()) + 1
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
		sum := uint64(0) // independent of the order
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

// mix combines two hashes. Order matters.
func mix(a, b uint64) uint64 {
	const odd = 0x9e3779b97f4a7c15
	x := (a ^ b*odd) + b>>29 + odd
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
