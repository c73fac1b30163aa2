package desired

import (
	"context"

	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/lang/muranopl"
	"github.com/lumi-idl/lumi/lumigl"
)

// Input is what a desired graph depends on.
type Input struct {
	// Module and Environment are those of the URNs.
	Module, Environment string
	// Classes finds the classes of the objects. Those of io.murano and io.lumi need not be among them. It is required.
	Classes muranopl.Resolver
	// Schemas have the types of resources.
	Schemas []*schema.Package
	// Model is the object model of the file. It is required. The positions in it and in the classes are those of messages and sources.
	Model *muranopl.Node
	// Last is the saved model of the last deployment with the values of outputs, absent before the first.
	Last lumigl.Value
	// Method of the root object is called, "deploy" if it is empty.
	Method string
	// Log gets the messages of io.lumi.Log. It may be nil.
	Log func(level, message string)
}

// evaluation makes a graph.
type evaluation struct {
	Input
	ctx     context.Context
	in      *muranopl.Interpreter
	graph   *lumigl.Snapshot
	types   map[string]*schema.Resource
	tokens  []string
	unnamed map[string]int // resources without a name, by type
	places  map[string]muranopl.Position
}
