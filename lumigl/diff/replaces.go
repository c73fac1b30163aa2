package diff

import (
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/lumigl"
)

// Replaced reports whether [Compare] would find that old was replaced by new. It takes from the budget what comparing them
// costs: see [match.Work].
func (r Replaces) Replaced(old, new *lumigl.Vertex, work *int64) bool {
	if old.ID == new.ID && len(r[new.Type]) == 0 || same(old, new) {
		return false
	}
	c := newComparer(true, *work)
	change := Resource{Kind: Updated, Old: old, New: new, Changes: c.bodies(old, new)}
	r.mark(&change)
	*work = c.Work
	return change.Kind == Replaced
}

// mark finds out whether an updated resource was in fact replaced, and by which changes.
func (r Replaces) mark(resource *Resource) {
	if resource.Kind != Updated {
		return
	}
	paths := r[resource.New.Type]
	for i := range resource.Changes {
		c := &resource.Changes[i]
		switch c.Key {
		case "id":
			// To get one, or to lose it, is not to become another.
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

// markWithin marks the changes at, above and below the paths. Places in lists do not count.
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

// holds reports whether a path is another one, or leads to what that one is in.
func holds(path, other string) bool {
	rest, ok := strings.CutPrefix(other, path)
	return ok && (rest == "" || rest[0] == '.')
}

func hasReplaces(changes []Change) bool {
	return slices.ContainsFunc(changes, func(c Change) bool { return c.Replaces || hasReplaces(c.Changes) })
}

// Identity is a [match.View] of the properties that cannot change. If these differ, [Replaces.Replaced] reports true.
func (r Replaces) Identity(resource *lumigl.Vertex, _ bool) (lumigl.Value, bool) {
	paths := r[resource.Type]
	if len(paths) == 0 {
		return lumigl.Value{}, false
	}
	all := fixed(bag(resource.Properties), "", paths)
	return all, all.Len() > 0
}

// fixed is what of a value stands at, above and below the paths, of which each change would be marked.
func fixed(v lumigl.Value, above string, paths []string) lumigl.Value {
	switch {
	case v.IsSecret() || v.IsFile() || v.Kind() != lumigl.Object && v.Kind() != lumigl.List:
		return v
	case v.Kind() == lumigl.List:
		all := make([]lumigl.Value, 0, v.Len())
		for _, e := range v.Elements() {
			all = append(all, fixed(e, above, paths))
		}
		return lumigl.ListOf(all...)
	}
	var all lumigl.ObjectBuilder
	for key, e := range v.Members() {
		here := strings.TrimPrefix(above+"."+key, ".")
		switch {
		case slices.ContainsFunc(paths, func(path string) bool { return holds(path, here) }):
			all.Set(key, e)
		case slices.ContainsFunc(paths, func(path string) bool { return holds(here, path) }):
			all.Set(key, fixed(e, here, paths))
		}
	}
	return all.Object()
}
