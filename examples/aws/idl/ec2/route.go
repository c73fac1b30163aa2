package ec2

import (
	aws "github.com/lumi-idl/lumi/examples/aws/idl"
	"github.com/lumi-idl/lumi/idl"
)

// A RouteTable contains the routes of its associated subnets.
type RouteTable struct {
	idl.NamedResource
	aws.Tagged
	// The VPC of the table.
	VPC *VPC `lumi:"replaces"`
	// The route table ID, such as `rtb-11ad2f7b`.
	RouteTableID string `lumi:"out,fixed"`
}

// routing is embedded by resources that belong to a RouteTable.
type routing struct {
	idl.Resource
	// The route table.
	RouteTable *RouteTable `lumi:"replaces"`
}

// A Route sends traffic for a range of addresses to a target.
type Route struct {
	routing
	// The destination addresses, in CIDR notation. The longest matching prefix wins.
	DestinationCIDRBlock string `lumi:"replaces,format=cidr"`
	// The internet gateway to send traffic to. It must be attached to the VPC.
	Gateway *VPCGatewayAttachment `lumi:"optional,exactlyOneOf='instance,natGateway'"`
	// The instance to send traffic to, which acts as a router.
	Instance *Instance `lumi:"optional,exactlyOneOf='gateway,natGateway'"`
	// The NAT gateway to send traffic to.
	NATGateway *NATGateway `lumi:"optional,exactlyOneOf='gateway,instance'"`
}

// A SubnetRouteTableAssociation associates a Subnet with a RouteTable, instead of the VPC's main table.
type SubnetRouteTableAssociation struct {
	routing
	// The subnet.
	Subnet *Subnet `lumi:"replaces"`
}

// AnyIPv4 is the range of all IPv4 addresses, the destination of a default route.
const AnyIPv4 = "0.0.0.0/0"

// AnyIPv6 is the range of all IPv6 addresses.
const AnyIPv6 = "::/0"
