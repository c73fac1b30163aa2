// Package net is another module.
package net

import "github.com/lumi-idl/lumi/idl"

// Network is a resource that others refer to.
type Network struct {
	idl.NamedResource
	Range string
	ID4   string `lumi:"name=assignedID,out"`
}

// Rule has the name of a struct in the module above.
type Rule struct {
	Allow bool
	On    *Network `lumi:"optional"`
}
