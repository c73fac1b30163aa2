package ec2

import (
	aws "github.com/lumi-idl/lumi/examples/aws/idl"
	"github.com/lumi-idl/lumi/idl"
)

// An InternetGateway connects a VPC with the internet, once a VPCGatewayAttachment has brought the two together.
type InternetGateway struct {
	idl.NamedResource
	aws.Tagged
}

// A VPCGatewayAttachment attaches a gateway to a network. A network has at most one gateway, a gateway one network.
type VPCGatewayAttachment struct {
	idl.Resource
	// The network to connect.
	VPC *VPC `lumi:"replaces"`
	// The gateway to connect it with.
	InternetGateway *InternetGateway
}
