// Package wire measures complete calls from a client through a socket to a plugin process and back. The baseline is a bare
// gRPC server in another process, without a secret, types, or providers. It returns the same messages or, in a second
// variant, the same number of plain bytes.
package wire
