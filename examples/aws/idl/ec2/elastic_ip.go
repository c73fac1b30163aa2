package ec2

import (
	aws "github.com/lumi-idl/lumi/examples/aws/idl"
	"github.com/lumi-idl/lumi/idl"
)

// An ElasticIP is a static public IPv4 address that belongs to the account until it is released.
type ElasticIP struct {
	idl.NamedResource
	aws.Tagged
	// The instance that the address is associated with.
	Instance *Instance `lumi:"optional"`
	// The gateway for traffic to the address, which must exist before the address.
	Attachment *VPCGatewayAttachment `lumi:"optional,in"`
	// The IPv4 address.
	PublicIP string `lumi:"out,fixed"`
	// The allocation ID, such as `eipalloc-5723d13e`.
	AllocationID string `lumi:"out,fixed"`
}

// A NATGateway lets instances in private subnets reach the internet, but not the reverse.
type NATGateway struct {
	idl.NamedResource
	aws.Tagged
	// The public subnet of the gateway.
	Subnet *Subnet `lumi:"replaces"`
	// The public address of the gateway. Private gateways have none.
	Address *ElasticIP `lumi:"optional,replaces"`
	// Whether the gateway connects to the internet or to other private networks.
	ConnectivityType *natConnectivity `lumi:"optional,replaces"`
}

// natConnectivity is what a NATGateway connects to.
type natConnectivity string

const (
	// The internet.
	natPublic natConnectivity = "public"
	// Other private networks.
	natPrivate natConnectivity = "private"
)
