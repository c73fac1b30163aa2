// Package aws defines some resources of Amazon Web Services: networks, machines, identities, storage, queues, functions
// and APIs.
//
// Each subfolder is a module named after an Amazon service. This folder contains shared types and the provider's
// configuration.
//
//lumi:package=aws
package aws

//go:generate go run github.com/lumi-idl/lumi/cmd/cidlc . --out-pack --out-provider
