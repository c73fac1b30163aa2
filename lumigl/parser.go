package lumigl

// parser reads JSON into values. It goes on after a fault only where what follows does not depend on what was meant.
// Strings without escapes share the memory of the source.
type parser struct {
	src    string
	pos    int
	faults *faults
	path   path
	levels int // how many there may be
	depth  int // how many of them there are
	most   int // how many values there may be
	values int // how many of them there are
	memory slabs
	// elements and members are stacks of what lists and objects that are not finished yet have so far.
	elements []Value
	members  []Member
	// elided says that a part of the file was left out, so that what is missing elsewhere may be there.
	elided bool
	// stopped says that the rest of the file is not read.
	stopped bool
	// graph takes vertices as they are read. It is nil where they are only made into a graph later.
	graph *builder
	// resource holds the members of the resource that is handed over.
	resource node
}
