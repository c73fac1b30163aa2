package diff

import (
	"hash/maphash"

	"github.com/lumi-idl/lumi/lumigl"
)

var seed = maphash.MakeSeed()

// hash returns a number that is the same for equal values. It reports false if no more work may be done.
func (c *comparer) hash(v lumigl.Value) (uint64, bool) {
	h := hasher{work: &c.work}
	n := h.value(v)
	return n, c.work > 0
}

// hasher makes hashes of values.
type hasher struct {
	work *int64
	// as says under which key a vertex is referred to. It is nil if that is its own.
	as func(*lumigl.Vertex) string
	// settler, if there is one, makes the hashes the same of values that it settles.
	settler *settler
}

// bytesPerWork is how many bytes cost as much as a value.
const bytesPerWork = 64

func (h *hasher) value(v lumigl.Value) uint64 {
	*h.work--
	if *h.work <= 0 {
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
		if h.settler != nil {
			if n, ok := h.settler.hash(h, v); ok {
				return n
			}
		}
		target, property, _ := v.Target()
		key := target.Key()
		if h.as != nil {
			key = h.as(target)
		}
		return mix(mix(kind, h.text(key)), h.text(property))
	case lumigl.List:
		for _, e := range v.Elements() {
			kind = mix(kind, h.value(e))
		}
	case lumigl.Object:
		if h.settler != nil {
			if n, ok := h.settler.hashSecret(h, v); ok {
				return n
			}
		}
		sum := uint64(0)                         // whatever the order
		content := h.settler != nil && isFile(v) // which programs do not hash
		for key, e := range v.Members() {
			if !content || key != "hash" {
				sum += h.member(key, e)
			}
		}
		return mix(kind, sum)
	}
	return kind
}

func (h *hasher) member(key string, v lumigl.Value) uint64 { return mix(h.text(key), h.value(v)) }

func (h *hasher) text(s string) uint64 {
	*h.work -= int64(len(s) / bytesPerWork)
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
