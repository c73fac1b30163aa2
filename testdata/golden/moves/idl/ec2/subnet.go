package ec2

import (
	"github.com/lumi-idl/lumi/idl"
	"github.com/lumi-idl/lumi/testdata/golden/moves/idl/network"
)

// A Subnet is part of a VPC.
type Subnet struct {
	idl.Resource
	Of *network.VPC
}
