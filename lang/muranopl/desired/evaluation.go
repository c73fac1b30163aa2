package desired

import (
	"context"

	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/lang/muranopl"
	"github.com/lumi-idl/lumi/lumigl"
)

// Input is the input of an evaluation.
type Input struct {
	// Module and Environment are parts of the URNs.
	Module, Environment string
	// Classes resolves the classes of objects. It need not include io.murano and io.lumi. It is required.
	Classes muranopl.Resolver
	// Schemas declare the resource types.
	Schemas []*schema.Package
	// Model is the object model in the file. It is required. Its positions and the classes' are used in messages and
	// sources.
	Model *muranopl.Node
	// Last is the saved model of the last deployment with the values of outputs, or absent before the first.
	Last lumigl.Value
	// Method is the method of the root object to call. The default is "deploy".
	Method string
	// Log receives the messages of io.lumi.Log. It may be nil.
	Log func(level, message string)
}

// evaluation builds a graph.
type evaluation struct {
	Input
	ctx     context.Context
	in      *muranopl.Interpreter
	graph   *lumigl.Snapshot
	types   map[string]*schema.Resource
	tokens  []string
	unnamed map[string]int // counts resources without a name, by type
	places  map[string]muranopl.Position
}
