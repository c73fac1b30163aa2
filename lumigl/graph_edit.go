package lumigl

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/lumi-idl/lumi/runtime/urn"
)

// Clone returns a copy of the graph, whose vertices can be changed without changing the original's, and the other way
// round. References to vertices of the graph lead to their copies; others, which dangle, lead where they led.
func (g *Graph) Clone() *Graph {
	c := &Graph{}
	g.cloneTo(c, nil)
	return c
}

// Clone returns a copy of the snapshot, including what is pending, as [Graph.Clone] does.
func (s *Snapshot) Clone() *Snapshot {
	c := &Snapshot{Package: s.Package, Args: s.Args, Lineage: s.Lineage, Serial: s.Serial}
	c.Pending = Pending{Deletes: slices.Clone(s.Pending.Deletes), Operations: slices.Clone(s.Pending.Operations)}
	copies := map[*Vertex]*Vertex{} // of what is not in the snapshot's graph
	for _, r := range s.Pending.resources() {
		if r != nil && r.graph != &s.Graph {
			p := *r
			p.graph = nil // It may be another snapshot's.
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

// cloneTo makes an empty graph a clone, completes copies of other vertices, whose references lead to the originals yet,
// and returns what finds the copy of a vertex.
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

// Rename gives a vertex of the graph another key. References to it still lead to it; strings that hold the old key stay
// as they are. It fails if there is a vertex with the new key, or v is not in the graph.
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

// Rename gives a resource of the snapshot another URN, and the type in that. It fails where [Graph.Rename] does, and if u
// is not a URN.
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

// Remove removes the vertices with the given keys, if there are any. References to them dangle from then on, which
// [Graph.Check] reports; [Index.Dependents] finds what refers to them. It takes time in proportion to the graph, so remove
// many at once.
func (g *Graph) Remove(keys ...string) {
	for _, key := range keys {
		if v := g.Vertex(key); v != nil {
			v.graph = nil
			delete(g.byKey, key)
		}
	}
	g.arrange(slices.DeleteFunc(g.vertices, func(v *Vertex) bool { return v.graph == nil }))
}
