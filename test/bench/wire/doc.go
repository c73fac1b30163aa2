// Package wire measures whole calls: from a client through a socket to a plugin, a process of its own, and back. Beside
// it, in the same run, stands a bare gRPC server, which is another process: without a secret, without types, without
// providers. It answers the same messages to the same messages, and as mere bytes, the same bytes to the same bytes.
package wire
