// Package muranopl runs MuranoPL, the language in which OpenStack's application catalog describes environments: classes
// with contracts for their properties, and methods, called workflows, that consist of YAQL expressions.
//
//	in := muranopl.New(resolver, muranopl.Options{})
//	env, err := in.Load(ctx, model)
//	...
//	value, err := in.Call(ctx, env, "deploy")
//
// Classes are trees of [Node] that a [Resolver] finds by full name; package catalog reads them from YAML files. Classes
// are loaded on first use, so an error in one affects only its users. [Check] reports all errors in a class.
//
// # Objects
//
// An object model is a tree, too. Inline objects are owned by the object around them, and strings refer to objects by
// id. [Interpreter.Save] writes objects as a model.
//
// # Execution
//
// An Interpreter runs one method at a time. Branches of Parallel take turns: one runs until it sleeps or the host makes
// it wait, so the order is the same in every run. The number of instructions and the depth of calls are limited, and
// workflows can access only their objects and the functions that the host registers.
//
// # Errors
//
// All errors are of type [*Error], with a kind, a position and a stack trace in terms of MuranoPL.
package muranopl
