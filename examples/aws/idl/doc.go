// Package aws describes a part of Amazon Web Services: networks and machines, identities, storage, queues, functions
// and the interfaces in front of them.
//
// Each folder below this one is a module, named as Amazon names its service. This folder holds what all of them share
// and the configuration of the provider.
package aws

//go:generate go run github.com/lumi-idl/lumi/cmd/cidlc . --out-pack --out-provider
