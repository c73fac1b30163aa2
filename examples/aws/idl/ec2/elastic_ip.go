package ec2

import (
	aws "github.com/lumi-idl/lumi/examples/aws/idl"
	"github.com/lumi-idl/lumi/idl"
)

// An ElasticIP is a public IPv4 address that stays the account's until it is given back, whatever it points at.
type ElasticIP struct {
	idl.NamedResource
	aws.Tagged
	// The instance that the address points at.
	Instance *Instance `lumi:"optional"`
	// The gateway through which packets to the address arrive. Create the address after it.
	Attachment *VPCGatewayAttachment `lumi:"optional,in"`
	// The address itself.
	PublicIP string `lumi:"out"`
	// The ID that Amazon gave the allocation, such as `eipalloc-5723d13e`.
	AllocationID string `lumi:"out"`
}

// A NATGateway lets instances of private subnets reach the internet and keeps the internet from reaching them.
type NATGateway struct {
	idl.NamedResource
	aws.Tagged
	// The public subnet that the gateway stands in.
	Subnet *Subnet `lumi:"replaces"`
	// The address that the internet sees. A gateway between private networks has none.
	Address *ElasticIP `lumi:"optional,replaces"`
	// Whether the gateway leads to the internet or to other private networks.
	ConnectivityType *natConnectivity `lumi:"optional,replaces"`
}

// natConnectivity says where a NATGateway leads to.
type natConnectivity string

const (
	// To the internet.
	natPublic natConnectivity = "public"
	// To other networks of the account.
	natPrivate natConnectivity = "private"
)
