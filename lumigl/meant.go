package lumigl

import (
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/internal/nearest"
)

// meant is what helps to find out what was meant by references that lead to nothing. Each part is made when it is needed.
type meant struct {
	// near has the keys that are most like what was looked for.
	near map[sought][]string
	// names and ids are resources by what else they are called, nil for what several are called.
	names, ids map[string]*Vertex
	// origins are what the keys of resources have before the name.
	origins map[string]bool
	// missing has the keys that references lead to and that are not there, by their origins.
	missing map[string][]missing
	// unused are the resources that nothing refers to, by their origins, nil where there are several.
	unused map[string]*Vertex
}

// sought is a key that there is not, and the vertex that cannot have been meant by it, if any.
type sought struct {
	key string
	but *Vertex
}

// missing is a key that there is not.
type missing struct {
	key        string
	references int
	first      int // the place of the first vertex that refers to it
}

// maxSuggestions bounds how often all keys are searched for one like another.
const maxSuggestions = 10

// nearest returns the key that a reference was without doubt meant to have, "" if there is none, or more than one. A
// resource is not meant to refer to itself.
func (c *checker) nearest(key string, from *Vertex) string {
	if v := c.called(key); v != nil {
		if v == from {
			return ""
		}
		return v.key
	}
	near := c.search(sought{key: key})
	if c.snapshot != nil && from != nil && slices.Contains(near, from.key) {
		if len(near) == 1 {
			near = c.search(sought{key, from})
		} else {
			near = slices.DeleteFunc(slices.Clone(near), func(key string) bool { return key == from.key })
		}
	}
	if len(near) != 1 || !c.maySlip(key, near[0]) {
		return ""
	}
	return near[0]
}

// search looks for the keys that are nearest, unless they have been looked for.
func (c *checker) search(s sought) []string {
	near, ok := c.meant.near[s]
	if ok || len(c.meant.near) == maxSuggestions {
		return near
	}
	near = nearest.All(s.key, len(s.key)/4, func(yield func(string) bool) {
		for _, v := range c.graph.vertices {
			if v != s.but && !yield(v.key) {
				return
			}
		}
	})
	if c.meant.near == nil {
		c.meant.near = map[sought][]string{}
	}
	c.meant.near[s] = near
	return near
}

// maySlip reports whether one key may have become of another by a slip of the pen. Long URNs have much in common, so
// their names have to be alike by themselves. What stands before the name is no slip if it is right for a resource, which
// is not to be taken for one of another type.
func (c *checker) maySlip(key, near string) bool {
	if c.snapshot == nil {
		return true
	}
	name, other := lastPart(key), lastPart(near)
	origin, _ := splitName(key)
	ofNear, _ := splitName(near)
	return nearest.Alike(name, other, max(2, len(name)/3)) && (origin == ofNear || !c.meant.origins[origin])
}

// lastPart is the name in a URN, right or not.
func lastPart(u string) string { return u[strings.LastIndex(u, "::")+1:] }

// called returns the one resource that has a name or an id, nil if there is none, or more than one.
func (c *checker) called(s string) *Vertex {
	if c.snapshot == nil {
		return nil
	}
	m := &c.meant
	if m.names == nil {
		m.names, m.ids, m.origins = map[string]*Vertex{}, map[string]*Vertex{}, map[string]bool{}
		for _, v := range c.graph.vertices {
			origin, name := splitName(v.key)
			m.origins[origin] = true
			once(m.names, name, v)
			once(m.ids, v.ID, v)
		}
	}
	named, ok := m.names[s]
	made, also := m.ids[s]
	switch {
	case s == "" || ok && also && named != made:
		return nil
	case ok:
		return named
	}
	return made
}

// once notes what a key stands for, which is nothing if it stands for two.
func once(all map[string]*Vertex, key string, v *Vertex) {
	if _, ok := all[key]; ok {
		v = nil
	}
	all[key] = v
}

// renamed returns the key that a resource probably has now, if several references lead to the old one. It is the one of
// its type and module that nothing refers to, stands before these references, as the old one did, and has not just
// another number. That is no more than a guess: what was referred to may be gone, and the other one new.
func (c *checker) renamed(key string) string {
	if c.snapshot == nil {
		return ""
	}
	if c.meant.missing == nil {
		c.lookForUses()
	}
	origin, name := splitName(key)
	lost, unused := c.meant.missing[origin], c.meant.unused[origin]
	if len(lost) != 1 || lost[0].key != key || lost[0].references < 2 || unused == nil || int(unused.index) >= lost[0].first {
		return ""
	}
	if _, other := splitName(unused.key); nearest.Siblings(name, other) {
		return ""
	}
	return unused.key
}

// lookForUses finds out what is referred to and is not there, and what is there and not referred to. References of what
// is pending count as uses only.
func (c *checker) lookForUses() {
	m := &c.meant
	m.missing, m.unused = map[string][]missing{}, map[string]*Vertex{}
	used := make([]bool, c.graph.Len())
	places := map[string]int{} // of the missing keys in their lists
	for i, v := range c.graph.vertices {
		c.uses(&v.Properties, func(key string) {
			if v := c.graph.byKey[key]; v != nil {
				used[v.index] = true
				return
			}
			origin, _ := splitName(key)
			place, ok := places[key]
			if !ok {
				place = len(m.missing[origin])
				places[key] = place
				m.missing[origin] = append(m.missing[origin], missing{key: key, first: i})
			}
			m.missing[origin][place].references++
		})
	}
	pending := func(r *Vertex) {
		if r == nil { // which is reported
			return
		}
		c.uses(&r.Properties, func(key string) {
			if v := c.graph.byKey[key]; v != nil {
				used[v.index] = true
			}
		})
	}
	for _, r := range c.snapshot.Pending.Deletes {
		pending(r)
	}
	for _, o := range c.snapshot.Pending.Operations {
		pending(o.Resource)
	}
	for i, v := range c.graph.vertices {
		if !used[i] {
			origin, _ := splitName(v.key)
			once(m.unused, origin, v)
		}
	}
}

// uses calls use with the keys that references in a value lead to, also with those in objects that were meant as such.
func (c *checker) uses(v *Value, use func(key string)) {
	switch v.kind {
	case Reference:
		use(v.node.target.key)
	case List:
		for i := range v.node.elements {
			c.uses(&v.node.elements[i], use)
		}
	case Object:
		if tag, _ := member(*v, c.graph.tag()); tag.Value.kind == Text {
			use(tag.Value.text)
		}
		for i := range v.node.members {
			c.uses(&v.node.members[i].Value, use)
		}
	}
}
