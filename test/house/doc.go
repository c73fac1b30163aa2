// Package house tests the import rules between packages. See docs/architecture.md: the compiler and the runtime do not
// import each other; only generated code connects them.
package house
