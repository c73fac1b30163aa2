package diff

import (
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// contents is the set of strings and numbers in secrets. Plain values with the same content may be former or future
// secrets and are masked as well.
type contents map[string]struct{}

// look adds the contents of secrets within v to the set. secret is set if v itself is within a secret.
func (c *contents) look(v lumigl.Value, secret bool) {
	switch v.Kind() {
	case lumigl.Text, lumigl.Number:
		if secret && !v.IsUnknown() {
			if *c == nil {
				*c = contents{}
			}
			(*c)[plainOf(v)] = struct{}{}
		}
	case lumigl.List:
		for _, e := range v.Elements() {
			c.look(e, secret)
		}
	case lumigl.Object:
		if content, ok := v.Secret(); ok {
			c.look(content, true)
			return
		}
		for key, e := range v.Members() {
			if key != wire.Signature { // the same for all
				c.look(e, secret)
			}
		}
	}
}

// have reports whether v is a nonempty string or a number with the same content as a secret.
func (c contents) have(v lumigl.Value) bool {
	if len(c) == 0 || v.Kind() != lumigl.Text && v.Kind() != lumigl.Number {
		return false
	}
	plain := plainOf(v)
	_, ok := c[plain]
	return ok && plain != ""
}

// plainOf returns the content of a string, or a number as a string.
func plainOf(v lumigl.Value) string {
	if n, ok := v.Literal(); ok {
		return n
	}
	s, _ := v.Text()
	return s
}

// contentsOfHeaders returns the contents of secrets in the top-level fields of both documents.
func (d *Delta) contentsOfHeaders() (all contents) {
	all.look(header(d.old), false)
	all.look(header(d.new), false)
	return all
}

// contents returns the contents of secrets in the old and new resource.
func (r *Resource) contents() contents {
	var all contents
	for _, v := range [...]*lumigl.Vertex{r.Old, r.New} {
		if v != nil {
			all.look(v.Properties, false)
			all.look(v.Options, false)
			all.look(v.Extensions, false)
		}
	}
	for _, v := range r.others {
		all.look(v, false)
	}
	return all
}
