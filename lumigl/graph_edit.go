package lumigl

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/lumi-idl/lumi/runtime/urn"
)

// Clone returns a deep copy. References to vertices of the graph refer to their copies; dangling references keep their
// targets.
func (g *Graph) Clone() *Graph {
	c := &Graph{}
	g.cloneTo(c, nil)
	return c
}

// Clone returns a deep copy of the snapshot, including pending resources. See [Graph.Clone].
func (s *Snapshot) Clone() *Snapshot {
	c := &Snapshot{Package: s.Package, Args: s.Args, Lineage: s.Lineage, Serial: s.Serial}
	c.Pending = Pending{Deletes: slices.Clone(s.Pending.Deletes), Operations: slices.Clone(s.Pending.Operations)}
	copies := map[*Vertex]*Vertex{} // of the pending resources
	for _, r := range s.Pending.resources() {
		if r != nil && r.graph != &s.Graph {
			p := *r
			p.graph = nil // It may belong to another snapshot.
			copies[r] = &p
		}
	}
	here := s.cloneTo(&c.Graph, copies)
	for i, r := range c.Pending.Deletes {
		c.Pending.Deletes[i] = here(r)
	}
	for i, o := range c.Pending.Operations {
		c.Pending.Operations[i].Resource = here(o.Resource)
	}
	return c
}

// cloneTo makes c a copy of g and redirects the references in c and in copies to copied vertices. It returns the
// function used for this, which maps a vertex to its copy, or to itself if it was not copied.
func (g *Graph) cloneTo(c *Graph, copies map[*Vertex]*Vertex) (here func(*Vertex) *Vertex) {
	c.Tag, c.Fields, c.place = g.Tag, slices.Clone(g.Fields), g.place
	vertices := make([]Vertex, g.Len())
	c.vertices = make([]*Vertex, g.Len())
	c.byKey = maps.Clone(g.byKey)
	for i, v := range g.vertices {
		vertices[i] = *v
		vertices[i].graph = c
		c.vertices[i] = &vertices[i]
	}
	here = func(v *Vertex) *Vertex {
		if v != nil && v.graph == g {
			return c.vertices[v.index]
		}
		return cmp.Or(copies[v], v)
	}
	var memory slabs
	for i := range vertices {
		vertices[i].retarget(&memory, here)
	}
	for _, v := range copies {
		v.retarget(&memory, here)
	}
	return here
}

func (v *Vertex) retarget(memory *slabs, to func(*Vertex) *Vertex) {
	v.Properties = v.Properties.retarget(memory, to)
	if v.Options.Exists() {
		v.Options = v.Options.retarget(memory, to)
	}
}

// Rename changes the key of a vertex. References follow the vertex; strings that contain the old key do not change. It
// returns an error if the new key is taken or v is not in the graph.
func (g *Graph) Rename(v *Vertex, key string) error {
	switch {
	case g.Vertex(v.key) != v:
		return fmt.Errorf("no vertex %q in this graph", v.key)
	case v.key == key:
		return nil
	case g.Vertex(key) != nil:
		return fmt.Errorf("vertex %q already exists", key)
	}
	delete(g.byKey, v.key)
	v.key = key
	g.byKey[key] = v.index
	return nil
}

// Rename changes the URN of a resource and sets its type to match. It returns an error if u is invalid or taken, or if
// r is not in the snapshot.
func (s *Snapshot) Rename(r *Vertex, u urn.URN) error {
	parts, err := u.Parts()
	if err != nil {
		return err
	}
	if err := s.Graph.Rename(r, string(u)); err != nil {
		return err
	}
	r.Type = parts.Type
	return nil
}

// Remove removes the vertices with the given keys and ignores unknown keys. References to removed vertices dangle and
// are reported by [Graph.Check]; use [Index.Dependents] to find them beforehand. Remove takes linear time, so remove
// many vertices in one call.
func (g *Graph) Remove(keys ...string) {
	for _, key := range keys {
		if v := g.Vertex(key); v != nil {
			v.graph = nil
			delete(g.byKey, key)
		}
	}
	g.arrange(slices.DeleteFunc(g.vertices, func(v *Vertex) bool { return v.graph == nil }))
}
