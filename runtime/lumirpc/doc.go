// Package lumirpc is the gRPC protocol between engines and plugins, generated from provider.proto and
// provisioner.proto, which document all calls and messages. Use package serve to write a plugin and package plugin to
// call one; few programs need this package.
package lumirpc

//go:generate go -C ../../tools run ./protogen ../runtime/lumirpc/provider.proto
//go:generate go -C ../../tools run ./protogen ../runtime/lumirpc/provisioner.proto
