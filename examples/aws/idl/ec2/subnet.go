package ec2

import (
	aws "github.com/lumi-idl/lumi/examples/aws/idl"
	"github.com/lumi-idl/lumi/idl"
)

// A Subnet is a range of a VPC's addresses in one availability zone. Instances are launched into subnets.
type Subnet struct {
	idl.NamedResource
	aws.Tagged
	// The VPC of the subnet.
	VPC *VPC `lumi:"replaces"`
	// The subnet's addresses, in CIDR notation. They must be part of the VPC's and must not overlap with other subnets.
	CIDRBlock string `lumi:"replaces"`
	// The availability zone, such as `us-west-2a`. By default, Amazon chooses one.
	AvailabilityZone *string `lumi:"optional,computed,replaces"`
	// The subnet's IPv6 addresses: a `/64` block of the VPC's.
	IPv6CIDRBlock *string `lumi:"ipv6CIDRBlock,optional"`
	// Whether new instances get an IPv6 address.
	AssignIPv6AddressOnCreation *bool `lumi:"assignIpv6AddressOnCreation,optional"`
	// Whether new instances get a public IPv4 address.
	MapPublicIPOnLaunch *bool `lumi:"optional"`
	// The subnet ID, such as `subnet-9d4a7b6c`.
	SubnetID string `lumi:"out,fixed"`
	// The number of unassigned addresses at the last refresh.
	AvailableIPAddressCount int `lumi:"out"`
}
