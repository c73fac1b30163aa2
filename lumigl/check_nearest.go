package lumigl

import (
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/internal/suggest"
)

// maxSuggestions bounds how often all keys are searched for one like another.
const maxSuggestions = 10

// nearest returns the key that a reference was without doubt meant to have, "" if there is none, or more than one. A
// resource is not meant to refer to itself.
func (c *checker) nearest(key string, from *Vertex) string {
	near, ok := c.near[key]
	if !ok && len(c.near) < maxSuggestions {
		if c.near == nil {
			c.near = map[string]string{}
		}
		near = c.search(key)
		c.near[key] = near
	}
	if c.snapshot != nil && from != nil && near == from.key {
		return ""
	}
	return near
}

// search looks for the one key that another may have become by a slip of the pen. Long URNs have much in common, so their
// names must be alike by themselves, and a reference to another type is not a slip if resources of that type exist.
func (c *checker) search(key string) string {
	all := suggest.All(key, len(key)/4, func(yield func(string) bool) {
		for _, v := range c.graph.vertices {
			if !yield(v.key) {
				return
			}
		}
	})
	if len(all) != 1 {
		return ""
	}
	near := all[0]
	if c.snapshot == nil {
		return near
	}
	name := lastPart(key)
	if !suggest.Alike(name, lastPart(near), max(2, len(name)/3)) {
		return ""
	}
	origin, _ := splitName(key)
	isOfOrigin := func(v *Vertex) bool {
		of, _ := splitName(v.key)
		return of == origin
	}
	if !strings.HasPrefix(near, origin) && slices.ContainsFunc(c.graph.vertices, isOfOrigin) {
		return ""
	}
	return near
}

// lastPart is the name in a URN, right or not.
func lastPart(u string) string { return u[strings.LastIndex(u, "::")+1:] }
