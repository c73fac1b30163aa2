// Package lumirpc is the gRPC protocol between an engine and plugins, generated from provider.proto and provisioner.proto, where
// all calls and messages are documented. Package serve is the plugin's side of it and package plugin the engine's;
// hardly anybody else needs this one.
package lumirpc

//go:generate go -C ../../tools run ./protogen ../runtime/lumirpc/provider.proto
//go:generate go -C ../../tools run ./protogen ../runtime/lumirpc/provisioner.proto
