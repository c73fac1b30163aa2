// Package muranopl runs MuranoPL, the language of OpenStack's application catalog. A program consists of classes with
// properties, which have contracts, and methods, called workflows, which consist of YAQL expressions.
//
//	in := muranopl.New(resolver, muranopl.Options{})
//	env, err := in.Load(ctx, model)
//	...
//	value, err := in.Call(ctx, env, "deploy")
//
// Classes are trees of [Node] that a [Resolver] finds by full name. Package catalog reads them from YAML files. Classes
// are loaded on first use, so an error in a class affects only its users. [Check] reports all errors in a class.
//
// # Objects
//
// An object model is a tree as well. An inline object is owned by the enclosing object, and strings refer to objects by
// id. [Interpreter.Save] converts objects to a model.
//
// # Execution
//
// An Interpreter runs one method at a time. Branches of Parallel take turns: a branch runs until it sleeps or the host
// makes it wait, so the order of execution is deterministic. The number of instructions and the depth of calls are
// limited. Workflows can access only their objects and the functions registered by the host.
//
// # Errors
//
// All errors are of type [*Error] and have a kind, a position, and a MuranoPL stack trace.
package muranopl
