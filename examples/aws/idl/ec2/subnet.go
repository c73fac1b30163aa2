package ec2

import (
	aws "github.com/lumi-idl/lumi/examples/aws/idl"
	"github.com/lumi-idl/lumi/idl"
)

// A Subnet is a part of a VPC's addresses that lies in one availability zone. Instances are launched into subnets.
type Subnet struct {
	idl.NamedResource
	aws.Tagged
	// The network that the subnet is a part of.
	VPC *VPC `lumi:"replaces"`
	// The subnet's addresses, in CIDR notation. They lie within the network's and overlap with no other subnet's.
	CIDRBlock string `lumi:"replaces"`
	// The zone that the subnet lies in, such as `us-west-2a`. Amazon chooses one where none is given.
	AvailabilityZone *string `lumi:"optional,replaces"`
	// The subnet's IPv6 addresses: a `/64` within a block of the network's.
	IPv6CIDRBlock *string `lumi:"ipv6CIDRBlock,optional"`
	// Whether new instances get an IPv6 address.
	AssignIPv6AddressOnCreation *bool `lumi:"assignIpv6AddressOnCreation,optional"`
	// Whether new instances get a public IPv4 address.
	MapPublicIPOnLaunch *bool `lumi:"optional"`
	// The ID that Amazon gave the subnet, such as `subnet-9d4a7b6c`.
	SubnetID string `lumi:"out"`
	// How many of the subnet's addresses were free when the provider last looked.
	AvailableIPAddressCount float64 `lumi:"out"`
}
