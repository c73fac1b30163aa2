package lumigl

import "github.com/lumi-idl/lumi/runtime/tokens"

// Kind says what a [Value] is.
type Kind uint8

// The kinds of values. The zero Value is Absent: what an accessor returns for something that is not there.
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

// Value is a JSON value in which objects that refer to vertices have become references. Values are immutable and may be
// shared between graphs, but for references, which hold on to their target. The zero Value is absent. All accessors
// work on any value, so that v.Get("a").At(0).Get("b") needs no check before its end.
type Value struct {
	// With a fifth field, the compiler would no longer keep values in registers.
	kind   Kind
	offset uint32 // where the value starts in the source it was read from
	// text is a string's content, a number's literal, a reference's property, or "true".
	text string
	node *node
}

// node is what values with an inside have there.
type node struct {
	elements []Value  // of a list
	members  []Member // of an object
	target   *Vertex  // of a reference
}

// Member is a key of an object with its value.
type Member struct {
	Key   string
	Value Value
	// offset is where the key starts in the source.
	offset uint32
}

// Vertex is an object of a graph. In a snapshot it is a resource.
type Vertex struct {
	// Properties are an object, or absent, which means the same as an empty one.
	Properties Value

	// Type is a resource's type, and empty for vertices of general graphs, like all that follows.
	Type tokens.Type
	// ID is what the provider calls the resource. It is empty where none has made it yet.
	ID string
	// Options say how deployments treat a resource: an object, or absent. Its only references are those in "dependsOn".
	// Options that are false or empty mean the same as none, and are neither read nor written.
	Options Value
	// Source is where a program makes the resource, such as "network/main.ts:12:9". It is not a part of the resource.
	Source string
	// Extensions are what tools note about a resource: an object, or absent. Nothing in them is taken for a reference.
	Extensions Value

	key    string
	graph  *Graph // nil if the vertex was removed, or is in no graph
	index  int32  // among the vertices of the graph, or, of what is pending, in the list that it was read from
	offset uint32
	// typeOffset is where the type stands in the source.
	typeOffset uint32
}

// Graph is a general graph: vertices in the order in which they were added, which may refer to each other in any way.
// The zero Graph is empty. It may be read concurrently. It must not be copied, since its vertices belong to it.
type Graph struct {
	_ noCopy

	// Tag is the key that marks references, [DefaultTag] if it is empty. A writer takes another where data has that key.
	Tag string
	// Fields are the top-level fields beside the vertices, in order. Nothing in them is taken for a reference.
	Fields []Member

	// place is how many of the fields stand before the vertices.
	place    int
	vertices []*Vertex
	byKey    map[string]int32 // the indices of the vertices
}

// noCopy makes go vet report copies of what it is in.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}
