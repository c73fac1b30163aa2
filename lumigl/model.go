package lumigl

import "github.com/lumi-idl/lumi/runtime/tokens"

// Kind is the kind of a [Value].
type Kind uint8

// Kinds of values. The zero Value is Absent; accessors return it for missing elements.
const (
	Absent Kind = iota
	Null
	Bool
	Number
	Text
	List
	Object
	Reference
)

// Value is a JSON value in which references to vertices are resolved. Values are immutable. Graphs may share a value
// unless it contains references, which keep their targets. The zero Value is absent. Accessors can be called on any
// kind of value, so v.Get("a").At(0).Get("b") needs no checks in between.
type Value struct {
	// The struct has only four fields because the compiler does not keep larger ones in registers.
	kind   Kind
	offset uint32 // position in the source
	// text is a string, the literal of a number, the property of a reference, or "true" for a true boolean.
	text string
	node *node
}

// node holds the contents of lists, objects, and references.
type node struct {
	elements []Value  // of a list
	members  []Member // of an object
	target   *Vertex  // of a reference
}

// Member is a key of an object and its value.
type Member struct {
	Key   string
	Value Value
	// offset is the position of the key in the source.
	offset uint32
}

// Vertex is a vertex of a graph. In a snapshot, it is a resource.
type Vertex struct {
	// Properties is an object, or absent, which is equivalent to {}.
	Properties Value

	// Type is the type of a resource. This field and the following ones are empty in general graphs.
	Type tokens.Type
	// ID is the id assigned by the provider, or "" before the resource exists.
	ID string
	// Options control how deployments treat a resource: an object, or absent. Only "dependsOn" and "read" may contain references.
	// False and empty options are equivalent to absent ones; the parser and the writer drop them.
	Options Value
	// Source is the position of the resource's declaration in the program, such as "network/main.ts:12:9". It is not
	// part of the resource.
	Source string
	// Extensions is an object with annotations by tools, or absent. References in it are not resolved.
	Extensions Value

	key    string
	graph  *Graph // nil if the vertex is in no graph
	index  int32  // in the graph's vertices or, for a pending resource, in its list
	offset uint32
	// typeOffset is the position of the type in the source.
	typeOffset uint32
}

// Graph is a general graph: vertices in insertion order with arbitrary references. The zero Graph is empty. Concurrent
// reads are safe. It must not be copied, since its vertices point to it.
type Graph struct {
	_ noCopy

	// Tag is the key that marks references; "" means [DefaultTag]. The writer picks another if the data contains that
	// key.
	Tag string
	// Fields lists the other top-level fields in order. References in them are not resolved.
	Fields []Member

	// the number of fields before the vertices
	place    int
	vertices []*Vertex
	byKey    map[string]int32 // vertex indices
}

// noCopy makes go vet report copies of the types that embed it.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}
