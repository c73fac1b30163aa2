// Package house tests the architectural rules described in docs/architecture.md, such as which packages may import each
// other. The compiler and the runtime must not import each other; only generated code connects them.
package house
