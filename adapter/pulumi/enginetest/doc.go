// Package enginetest tests the adapter with Pulumi's own engine and generators. It is a module of its own, since these have
// hundreds of dependencies. 'make engines' runs it.
package enginetest
