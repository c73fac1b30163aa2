// Package muranopl runs MuranoPL, the language of OpenStack's application catalog. A program consists of classes, which
// have contracts for their properties, and methods, called workflows, made of YAQL expressions.
//
//	in := muranopl.New(resolver, muranopl.Options{})
//	env, err := in.Load(ctx, model)
//	...
//	value, err := in.Call(ctx, env, "deploy")
//
// Classes are trees of [Node], looked up by full name in a [Resolver]; package catalog reads them from YAML files.
// Classes are loaded on first use, so an error in one affects only its users. [Check] reports all errors in a class.
//
// # Objects
//
// An object model is also a tree. Inline objects are owned by the enclosing object, and strings refer to objects by id.
// [Interpreter.Save] writes objects as a model.
//
// # Execution
//
// An Interpreter runs one method at a time. Branches of Parallel take turns: one runs until it sleeps or the host makes
// it wait, so the order is deterministic. The number of instructions and the depth of calls are limited, and workflows
// can access only their objects and the functions registered by the host.
//
// # Errors
//
// All errors are of type [*Error], with a kind, a position, and a MuranoPL stack trace.
package muranopl
