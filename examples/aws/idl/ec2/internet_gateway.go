package ec2

import (
	aws "github.com/lumi-idl/lumi/examples/aws/idl"
	"github.com/lumi-idl/lumi/idl"
)

// An InternetGateway connects a VPC to the internet once a VPCGatewayAttachment attaches it.
type InternetGateway struct {
	idl.NamedResource
	aws.Tagged
}

// A VPCGatewayAttachment attaches an internet gateway to a VPC. Each VPC has at most one gateway, and each gateway one
// VPC.
type VPCGatewayAttachment struct {
	idl.Resource
	// The VPC.
	VPC *VPC `lumi:"replaces"`
	// The gateway to attach.
	InternetGateway *InternetGateway
}
