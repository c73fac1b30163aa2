// Package house contains the tests of the imports between packages. docs/architecture.md has the picture: the compiler and
// the runtime do not import each other, and only generated code connects them.
package house
