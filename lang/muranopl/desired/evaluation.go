package desired

import (
	"context"

	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/lang/muranopl"
	"github.com/lumi-idl/lumi/lumigl"
)

// Input is the input of an evaluation.
type Input struct {
	// Module and Environment are used in the URNs.
	Module, Environment string
	// Classes finds the classes of objects. It is required. Classes in io.murano and io.lumi are built in.
	Classes muranopl.Resolver
	// Schemas lists packages that declare resource types.
	Schemas []*schema.Package
	// Model is the object model in the file. It is required. Positions in the model and in the classes are used in
	// messages and as the sources of resources.
	Model *muranopl.Node
	// Last is the saved model of the last deployment, with outputs replaced by their values. It is absent before the
	// first deployment.
	Last lumigl.Value
	// Method is the method of the root object to call. The default is "deploy".
	Method string
	// Config is an object with the configuration of the module, or absent. Workflows read it with config.
	Config lumigl.Value
	// Log receives the messages logged through io.lumi.Log. It may be nil.
	Log func(level, message string)
}

type evaluation struct {
	Input
	ctx     context.Context
	in      *muranopl.Interpreter
	graph   *lumigl.Snapshot
	types   map[string]*schema.Resource
	tokens  []string
	unnamed map[string]int // number of resources without a name, by type
	places  map[string]muranopl.Position
	read    lumigl.Value // the configuration that workflows have read; null for keys without a value
}

// config returns the value of a configuration key, or preset if it has none.
func (e *evaluation) config(key string, preset any) (any, error) {
	v := e.Config.Get(key)
	if v.Kind() == lumigl.Null || !v.Exists() {
		e.read = e.read.With(key, lumigl.NullValue())
		return preset, nil
	}
	e.read = e.read.With(key, v)
	return tree(v, nil).Data(), nil
}
