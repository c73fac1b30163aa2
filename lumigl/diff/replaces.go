package diff

import (
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/lumigl"
)

// mark marks an updated resource as replaced, along with the changes that require it. A look-up is never replaced: it may
// find another resource.
func (r Replaces) mark(resource *Resource) {
	if resource.Kind != Updated || resource.isLookUp() {
		return
	}
	paths := r[resource.New.Type]
	for i := range resource.Changes {
		c := &resource.Changes[i]
		switch c.Key {
		case "id":
			// An id that appears or disappears is not a replacement.
			c.Replaces = c.Kind == Changed && resource.Old.Type != ""
		case "properties":
			if len(paths) > 0 {
				markWithin(c.Changes, "", paths)
			}
		}
		if c.Replaces || hasReplaces(c.Changes) {
			resource.Kind = Replaced
		}
	}
}

// isLookUp reports whether both resources are looked up rather than managed.
func (r *Resource) isLookUp() bool {
	isRead := func(v *lumigl.Vertex) bool { return v != nil && v.Options.Get("read").Exists() }
	return isRead(r.Old) && isRead(r.New)
}

// markWithin marks the changes at, above, or below the paths. It ignores list indices.
func markWithin(changes []Change, above string, paths []string) {
	for i := range changes {
		c := &changes[i]
		here := above
		if !c.isElement() {
			here = strings.TrimPrefix(above+"."+c.Key, ".")
		}
		switch {
		case slices.ContainsFunc(paths, func(path string) bool { return holds(path, here) }):
			markAll(c)
		case slices.ContainsFunc(paths, func(path string) bool { return here == "" || holds(here, path) }):
			if c.Kind == Inside {
				markWithin(c.Changes, here, paths)
			} else {
				c.Replaces = true
			}
		}
	}
}

func markAll(c *Change) {
	c.Replaces = c.Kind != Inside
	for i := range c.Changes {
		markAll(&c.Changes[i])
	}
}

// holds reports whether path is equal to other or a parent of it.
func holds(path, other string) bool {
	rest, ok := strings.CutPrefix(other, path)
	return ok && (rest == "" || rest[0] == '.')
}

func hasReplaces(changes []Change) bool {
	return slices.ContainsFunc(changes, func(c Change) bool { return c.Replaces || hasReplaces(c.Changes) })
}
