// Package net is a folder that refers to its parent.
package net

import (
	traps "github.com/lumi-idl/lumi/gen/pulumischema/testdata/traps/idl"
	deep "github.com/lumi-idl/lumi/gen/pulumischema/testdata/traps/idl/net/low-level"
	"github.com/lumi-idl/lumi/idl"
)

// A VPC is a network.
type VPC struct {
	idl.NamedResource
	Thing *traps.Thing
	Level traps.Level
	Lid   *options `lumi:"optional"`
	Peer  *VPC     `lumi:"optional"`
	Route deep.Route
	Kind  deep.Kind
}

type options struct {
	Count int
}

// GetVPC has the name of a function that SDKs for Go have for each resource.
type GetVPC struct {
	idl.Function
	ID string `lumi:"name=vpcID,out"`
}
