package net

import (
	files "github.com/lumi-idl/lumi/gen/pulumischema/testdata/files/idl"
	"github.com/lumi-idl/lumi/idl"
)

// A VPC is in another folder.
type VPC struct {
	idl.Resource
	Part files.Part
}
