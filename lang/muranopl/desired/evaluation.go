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
	// Classes resolves the classes of objects. It is required. io.murano and io.lumi are built in.
	Classes muranopl.Resolver
	// Schemas lists the packages that declare the resource types.
	Schemas []*schema.Package
	// Model is the object model in the file. It is required. Positions in the model and the classes appear in messages
	// and in resources' sources.
	Model *muranopl.Node
	// Last is the saved model of the last deployment, with the values of outputs. It is absent before the first
	// deployment.
	Last lumigl.Value
	// Method is the name of the root object's method to call. The default is "deploy".
	Method string
	// Log receives the messages of io.lumi.Log. It may be nil.
	Log func(level, message string)
}

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
