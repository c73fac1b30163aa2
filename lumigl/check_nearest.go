package lumigl

import (
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/internal/suggest"
)

// maxSuggestions limits the number of searches for a similar key. Each search scans all keys.
const maxSuggestions = 10

// nearest returns the most likely intended key for a dangling reference, or "" if there is no clear candidate. It never
// suggests a resource for a reference to itself.
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

// search returns the only vertex key similar to key, or "" if there are none or several. Because long URNs share most
// of their text, their names must be similar as well. It does not suggest another type if resources of the given type
// exist.
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

// lastPart returns the part of u after the last "::". u need not be a valid URN.
func lastPart(u string) string { return u[strings.LastIndex(u, "::")+1:] }
