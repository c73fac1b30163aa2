package network

import "github.com/lumi-idl/lumi/idl"

// A VPC moved here from the folder ec2, and before that from the file ec2/vpc.go of a package with tokens by file.
//
//lumi:was='moves:ec2:VPC,moves:ec2/vpc:VPC,Cloud'
type VPC struct {
	idl.NamedResource
	Range string
}
