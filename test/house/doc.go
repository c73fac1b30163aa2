// Package house holds no code, only the test of which package may import which. The picture is in docs/architecture.md:
// two wings, the compiler's and the runtime's, which never meet, so that generated code is all that connects them.
package house
