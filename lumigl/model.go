package lumigl

import "github.com/lumi-idl/lumi/runtime/tokens"

// Kind is the kind of a [Value].
type Kind uint8

// The kinds of values. The zero Value is Absent, and accessors return it for missing elements.
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

// Value is a JSON value in which references to vertices are resolved. Values are immutable and may be shared between
// graphs, except for references, which keep their target. The zero Value is absent. All accessors accept any value, so
// v.Get("a").At(0).Get("b") needs no checks in between.
type Value struct {
	// With a fifth field, the compiler would no longer keep values in registers.
	kind   Kind
	offset uint32 // position in the source
	// text is a string, the literal of a number, the property of a reference, or "true".
	text string
	node *node
}

// node holds the contents of lists, objects and references.
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

// Vertex is an object of a graph. In a snapshot it is a resource.
type Vertex struct {
	// Properties are an object, or absent, which means the same as {}.
	Properties Value

	// Type is a resource's type. It is empty for vertices of general graphs, like the following fields.
	Type tokens.Type
	// ID is the provider's id of the resource, empty before it exists.
	ID string
	// Options control how deployments treat a resource: an object, or absent. Only "dependsOn" may contain references.
	// Options that are false or empty mean the same as none; the parser and the writer drop them.
	Options Value
	// Source is the position in the program that declares the resource, such as "network/main.ts:12:9". It is not part
	// of the resource.
	Source string
	// Extensions are notes that tools attach to a resource: an object, or absent. References in them are not resolved.
	Extensions Value

	key    string
	graph  *Graph // nil if the vertex is in no graph
	index  int32  // in the graph's vertices or, for pending resources, in the list it was read from
	offset uint32
	// typeOffset is the position of the type in the source.
	typeOffset uint32
}

// Graph is a general graph: vertices in insertion order with arbitrary references. The zero Graph is empty. Concurrent
// reads are safe. It must not be copied, since its vertices point to it.
type Graph struct {
	_ noCopy

	// Tag is the key that marks references; "" means [DefaultTag]. A writer picks another if data contains that key.
	Tag string
	// Fields are the other top-level fields, in order. References in them are not resolved.
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
