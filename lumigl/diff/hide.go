package diff

import (
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// contents are the texts and numbers that are in secrets. Where one of them stands plain as well, it may be what became a
// secret, or was one, and is not shown either.
type contents map[string]struct{}

// look collects what is in secrets within a value, which is in one itself or not.
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
			if key != wire.Signature { // which is the same everywhere
				c.look(e, secret)
			}
		}
	}
}

// have reports whether a value is a text or a number that is in a secret. An empty text gives nothing away.
func (c contents) have(v lumigl.Value) bool {
	if len(c) == 0 || v.Kind() != lumigl.Text && v.Kind() != lumigl.Number {
		return false
	}
	plain := plainOf(v)
	_, ok := c[plain]
	return ok && plain != ""
}

// plainOf is a text, or a number as text.
func plainOf(v lumigl.Value) string {
	if n, ok := v.Literal(); ok {
		return n
	}
	s, _ := v.Text()
	return s
}

// contentsOfHeaders collects what is in the secrets beside the resources.
func (d *Delta) contentsOfHeaders() (all contents) {
	all.look(header(d.old), false)
	all.look(header(d.new), false)
	return all
}

// contents collects what is in the secrets of a resource, old and new.
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
