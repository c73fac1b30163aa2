package lumigl

import (
	"fmt"
	"iter"
	"slices"

	"github.com/lumi-idl/lumi/runtime/urn"
)

// DefaultTag is the key that marks references in files without a field "ref".
const DefaultTag = "#ref"

// Document is a *[Graph] or a *[Snapshot].
type Document interface {
	// Base returns the graph itself, or the Graph embedded in a Snapshot.
	Base() *Graph
	// Check validates the document. Any error is of type *[InvalidError].
	Check() error
	form() form
}

// form describes one of the two file formats.
type form struct {
	section string // key of the vertices
	bag     string // key of a vertex's properties, "" if the vertex itself contains them
	noun    string // word for a vertex in messages
}

// reserved reports whether key is a predefined top-level field.
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

// Key returns the vertex's id, which is the URN for a resource.
func (v *Vertex) Key() string { return v.key }

// URN returns a resource's key.
func (v *Vertex) URN() urn.URN { return urn.URN(v.key) }

// References iterates over all references in the options and properties, in canonical order. It yields the target and
// property of each, as in [Value.Target].
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

// Len returns the number of vertices.
func (g *Graph) Len() int { return len(g.vertices) }

// Vertices iterates over all vertices in order.
func (g *Graph) Vertices() iter.Seq[*Vertex] { return slices.Values(g.vertices) }

// Vertex returns the vertex with the given key, or nil.
func (g *Graph) Vertex(key string) *Vertex {
	if i, ok := g.byKey[key]; ok {
		return g.vertices[i]
	}
	return nil
}

// Field returns the top-level field with the given key, or the absent Value.
func (g *Graph) Field(key string) Value {
	v := ObjectOf(g.Fields...)
	return v.Get(key)
}

// Add adds a vertex without properties and returns it. It returns an error if the key is taken.
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

// arrange sets the order of the vertices. The argument must be a permutation of g.vertices.
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

// Snapshot is an acyclic graph of resources: the desired state of a program or the state of an environment. It must not
// be copied, since its resources point to the embedded Graph.
type Snapshot struct {
	Graph
	// Package is the name of the package that created the resources.
	Package string
	// Args are the package's arguments: an object, or absent.
	Args Value
	// Lineage identifies the sequence of snapshots of an environment.
	Lineage string
	// Serial is the number of the snapshot within its lineage.
	Serial uint64
	// Pending is the unfinished work of a deployment.
	Pending Pending
}

// Pending is the unfinished work of a deployment. Its resources may share URNs with resources of the graph.
type Pending struct {
	// Deletes lists replaced resources awaiting deletion.
	Deletes []*Vertex
	// Operations lists operations that were started and whose outcome is unknown.
	Operations []Operation
}

func (p *Pending) resources() []*Vertex {
	all := slices.Clone(p.Deletes)
	for _, o := range p.Operations {
		all = append(all, o.Resource)
	}
	return all
}

// deletesByKey returns the first pending delete of each URN. Later ones cannot be the target of a reference.
func (p *Pending) deletesByKey() map[string]*Vertex {
	all := make(map[string]*Vertex, len(p.Deletes))
	for _, r := range slices.Backward(p.Deletes) {
		if r != nil {
			all[r.key] = r
		}
	}
	return all
}

// OperationKind is the kind of a pending operation.
type OperationKind string

// Operation kinds.
const (
	CreateOperation OperationKind = "create"
	UpdateOperation OperationKind = "update"
	DeleteOperation OperationKind = "delete"
)

func (k OperationKind) isValid() bool {
	return k == CreateOperation || k == UpdateOperation || k == DeleteOperation
}

// Operation is an operation that was started on a resource.
type Operation struct {
	Kind OperationKind
	// Resource is the resource after the operation, or before it for a deletion.
	Resource *Vertex
}

func (s *Snapshot) form() form { return snapshotForm }

// Add appends a resource without properties, whose type is taken from the URN. It returns an error if u is invalid or
// taken.
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

// NewResource returns a resource that is not part of a graph, such as a pending one. It returns an error if u is
// invalid.
func NewResource(u urn.URN) (*Vertex, error) {
	parts, err := u.Parts()
	if err != nil {
		return nil, err
	}
	return &Vertex{key: string(u), Type: parts.Type}, nil
}
