package lumigl

// parser parses JSON. After an error, it continues only if the rest of the file is unambiguous no matter how the error
// is fixed. Strings without escapes share memory with the source.
type parser struct {
	src    string
	pos    int
	faults *faults
	path   path
	levels int // limit
	depth  int // current
	most   int // limit
	values int // so far
	memory slabs
	// elements and members are stacks for the lists and objects being read.
	elements []Value
	members  []Member
	// elided is set if part of the file was elided, which may explain missing parts elsewhere.
	elided bool
	// stopped is set if the rest of the file will not be parsed.
	stopped bool
	// graph receives vertices as they are parsed. It is nil if the graph is built afterwards.
	graph *builder
	// resource holds the members of the resource being passed to graph.
	resource node
}
