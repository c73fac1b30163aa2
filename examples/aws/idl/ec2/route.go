package ec2

import (
	aws "github.com/lumi-idl/lumi/examples/aws/idl"
	"github.com/lumi-idl/lumi/idl"
)

// A RouteTable is a list of routes. It applies to the subnets that are associated with it.
type RouteTable struct {
	idl.NamedResource
	aws.Tagged
	// The network whose traffic the table directs.
	VPC *VPC `lumi:"replaces"`
	// The ID that Amazon gave the table, such as `rtb-11ad2f7b`.
	RouteTableID string `lumi:"out"`
}

// routing is what everything that belongs to a RouteTable begins with.
type routing struct {
	idl.Resource
	// The table that this belongs to.
	RouteTable *RouteTable `lumi:"replaces"`
}

// A Route is one line of a RouteTable: it sends packets for some addresses to one target.
type Route struct {
	routing
	// The addresses that the route is for, in CIDR notation. Where several routes fit, the longest prefix wins.
	DestinationCIDRBlock string `lumi:"replaces,format=cidr"`
	// Send packets to the internet, through this gateway. It needs to be attached to the network.
	Gateway *VPCGatewayAttachment `lumi:"optional,exactlyOneOf='instance,natGateway'"`
	// Send packets to this instance, which then acts as a router.
	Instance *Instance `lumi:"optional,exactlyOneOf='gateway,natGateway'"`
	// Send packets through this address translation.
	NATGateway *NATGateway `lumi:"optional,exactlyOneOf='gateway,instance'"`
}

// A SubnetRouteTableAssociation makes a RouteTable apply to a Subnet, in place of the network's main table.
type SubnetRouteTableAssociation struct {
	routing
	// The subnet that the table applies to.
	Subnet *Subnet `lumi:"replaces"`
}

// AnyIPv4 is the block of all IPv4 addresses: the destination of a default route.
const AnyIPv4 = "0.0.0.0/0"

// AnyIPv6 is the block of all IPv6 addresses.
const AnyIPv6 = "::/0"
