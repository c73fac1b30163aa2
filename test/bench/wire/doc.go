// Package wire measures whole calls from a client through a socket to a plugin process and back. The baseline in the
// same run is a bare gRPC server in another process, without a secret, types, or providers. It returns the same
// messages and, in another variant, the same number of plain bytes.
package wire
