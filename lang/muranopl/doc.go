// Package muranopl runs MuranoPL, the language in which OpenStack's application catalog describes environments: classes
// with contracts for their properties, and methods, called workflows, made of YAQL expressions.
//
//	in := muranopl.New(resolver, muranopl.Options{})
//	env, err := in.Load(ctx, model)
//	...
//	value, err := in.Call(ctx, env, "deploy")
//
// Classes are decoded trees of [Node], which a [Resolver] finds by their full names: package catalog reads them from
// folders of YAML. They are loaded when they are first needed, so that an error in one affects only those who use it.
// [Check] reports everything that is wrong with a class.
//
// # Objects
//
// An object model is a tree, too. Inline objects belong to the object around them, and strings refer to objects by id.
// [Interpreter.Save] writes objects back.
//
// # Execution
//
// An Interpreter runs one method at a time. Branches of Parallel take turns: one runs until it sleeps or the host makes
// it wait, so that every run has the same order. Instructions and the depth of calls are limited, and workflows reach
// nothing but their objects and the functions that the host registers.
//
// # Errors
//
// All errors are of type [*Error], with a kind, a position and a stack trace in MuranoPL's own lines.
package muranopl
