// Package lumirpc defines the gRPC protocol between engines and plugins. It is generated from provider.proto and
// provisioner.proto, which document all calls and messages. Few programs need this package: use package serve to write a
// plugin and package plugin to call one.
package lumirpc

//go:generate go -C ../../tools run ./protogen ../runtime/lumirpc/provider.proto
//go:generate go -C ../../tools run ./protogen ../runtime/lumirpc/provisioner.proto
