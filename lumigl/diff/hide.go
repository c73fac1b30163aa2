package diff

import (
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// contents is the set of texts and numbers in secrets. Plain values with the same content may be former or future
// secrets and are masked too.
type contents map[string]struct{}

// look collects the contents of secrets within a value. secret reports whether v is within a secret.
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

// have reports whether a value is a text or number with the content of a secret. Empty texts do not count.
func (c contents) have(v lumigl.Value) bool {
	if len(c) == 0 || v.Kind() != lumigl.Text && v.Kind() != lumigl.Number {
		return false
	}
	plain := plainOf(v)
	_, ok := c[plain]
	return ok && plain != ""
}

// plainOf returns a text, or a number as text.
func plainOf(v lumigl.Value) string {
	if n, ok := v.Literal(); ok {
		return n
	}
	s, _ := v.Text()
	return s
}

// contentsOfHeaders collects the contents of secrets in top-level fields.
func (d *Delta) contentsOfHeaders() (all contents) {
	all.look(header(d.old), false)
	all.look(header(d.new), false)
	return all
}

// contents collects the contents of secrets in the old and new resource.
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
