package lumigl

import (
	"fmt"
	"iter"
	"slices"

	"github.com/lumi-idl/lumi/runtime/urn"
)

// DefaultTag is the key that marks references, unless a file names another.
const DefaultTag = "#ref"

// Document is a *[Graph] or a *[Snapshot].
type Document interface {
	// Base is the graph itself, which snapshots are too.
	Base() *Graph
	// Check reports all that is wrong, as an *[InvalidError].
	Check() error
	form() form
}

// form is what differs between the two forms of files.
type form struct {
	section string // the key of the vertices
	bag     string // the key of a vertex's properties, if they do not stand there themselves
	noun    string // what a vertex is called
}

// reserved reports whether a top-level field has a meaning of its own.
func (f form) reserved(key string) bool {
	switch key {
	case "ref", generalForm.section, snapshotForm.section:
		return true
	case "package", "args", "lineage", "serial", "pending":
		return f == snapshotForm
	}
	return false
}

var (
	generalForm  = form{section: "vertices", noun: "vertex"}
	snapshotForm = form{section: "resources", bag: "properties", noun: "resource"}
)

// Key is the vertex's id, which for resources is the URN.
func (v *Vertex) Key() string { return v.key }

// URN is a resource's key.
func (v *Vertex) URN() urn.URN { return urn.URN(v.key) }

// References are all references within the options and the properties, in the order of the canonical text.
func (v *Vertex) References() iter.Seq2[*Vertex, string] {
	return v.references
}

func (v *Vertex) references(yield func(*Vertex, string) bool) {
	if !v.Options.Exists() || v.Options.references(yield) {
		v.Properties.references(yield)
	}
}

// Base implements [Document].
func (g *Graph) Base() *Graph { return g }

func (g *Graph) form() form { return generalForm }

// Len is the number of vertices.
func (g *Graph) Len() int { return len(g.vertices) }

// Vertices are all vertices in order.
func (g *Graph) Vertices() iter.Seq[*Vertex] { return slices.Values(g.vertices) }

// Vertex returns the vertex with a key, and nil if there is none.
func (g *Graph) Vertex(key string) *Vertex {
	if i, ok := g.byKey[key]; ok {
		return g.vertices[i]
	}
	return nil
}

// Field returns the value of a top-level field, and the absent Value if there is none.
func (g *Graph) Field(key string) Value {
	v := ObjectOf(g.Fields...)
	return v.Get(key)
}

// Add adds a vertex without properties. It fails if there is one with that key.
func (g *Graph) Add(key string) (*Vertex, error) {
	v := &Vertex{key: key}
	if !g.insert(v) {
		return nil, fmt.Errorf("vertex %q already exists", key)
	}
	return v, nil
}

func (g *Graph) insert(v *Vertex) bool {
	if _, ok := g.byKey[v.key]; ok {
		return false
	}
	if g.byKey == nil {
		g.byKey = map[string]int32{}
	}
	v.graph, v.index = g, int32(len(g.vertices))
	g.vertices = append(g.vertices, v)
	g.byKey[v.key] = v.index
	return true
}

// arrange makes an order of the graph's own vertices its order.
func (g *Graph) arrange(vertices []*Vertex) {
	g.vertices = vertices
	for i, v := range vertices {
		if v.index != int32(i) {
			v.index = int32(i)
			g.byKey[v.key] = v.index
		}
	}
}

func (g *Graph) tag() string {
	if g.Tag == "" {
		return DefaultTag
	}
	return g.Tag
}

// Snapshot is a graph of resources, each behind all that it refers to. It is what a program wants or what an
// environment has. It must not be copied, since its resources belong to the Graph in it.
type Snapshot struct {
	Graph
	// Package is the package that the resources were made by.
	Package string
	// Args are the arguments that it was given, an object, or absent.
	Args Value
	// Lineage tells apart the histories of different environments.
	Lineage string
	// Serial counts the snapshots of a history.
	Serial uint64
	// Pending is what a deployment has not finished.
	Pending Pending
}

// Pending is what a deployment has left to do, or did not come to hear about. Its resources may have the URNs of others.
type Pending struct {
	// Deletes are resources that were replaced and still have to go.
	Deletes []*Vertex
	// Operations were begun, and nobody knows how they ended.
	Operations []Operation
}

func (p *Pending) resources() []*Vertex {
	all := slices.Clone(p.Deletes)
	for _, o := range p.Operations {
		all = append(all, o.Resource)
	}
	return all
}

// deletesByKey returns the first resource of each URN that is to be deleted. The others cannot be referred to.
func (p *Pending) deletesByKey() map[string]*Vertex {
	all := make(map[string]*Vertex, len(p.Deletes))
	for _, r := range slices.Backward(p.Deletes) {
		if r != nil {
			all[r.key] = r
		}
	}
	return all
}

// OperationKind says what was about to be done.
type OperationKind string

// The operations.
const (
	CreateOperation OperationKind = "create"
	UpdateOperation OperationKind = "update"
	DeleteOperation OperationKind = "delete"
)

func (k OperationKind) isValid() bool {
	return k == CreateOperation || k == UpdateOperation || k == DeleteOperation
}

// Operation is what was about to happen to a resource.
type Operation struct {
	Kind OperationKind
	// Resource is the resource as it was meant to be, or, to be deleted, as it was.
	Resource *Vertex
}

func (s *Snapshot) form() form { return snapshotForm }

// Add adds a resource without properties, at the end. Its type is that in the URN. It fails if that is not a URN, or
// there is one already.
func (s *Snapshot) Add(u urn.URN) (*Vertex, error) {
	r, err := NewResource(u)
	if err != nil {
		return nil, err
	}
	if !s.insert(r) {
		return nil, fmt.Errorf("resource %s already exists", u)
	}
	return r, nil
}

// NewResource makes a resource that is in no graph, as those are which are pending. It fails if u is not a URN.
func NewResource(u urn.URN) (*Vertex, error) {
	parts, err := u.Parts()
	if err != nil {
		return nil, err
	}
	return &Vertex{key: string(u), Type: parts.Type}, nil
}
