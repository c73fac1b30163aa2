package ec2

import (
	aws "github.com/lumi-idl/lumi/examples/aws/idl"
	"github.com/lumi-idl/lumi/idl"
)

// A VPC is a private network of the account's own, in one region. Subnets divide it, route tables say where its traffic
// goes.
type VPC struct {
	idl.NamedResource
	aws.Tagged
	// The addresses of the network, in CIDR notation: a block between `/16` and `/28`.
	CIDRBlock string `lumi:"replaces"`
	// Whether instances that have a public address get a public host name, too. Needs EnableDNSSupport.
	EnableDNSHostnames *bool `lumi:"optional"`
	// Whether Amazon's name server answers inside the network. It does, unless told otherwise.
	EnableDNSSupport *bool `lumi:"optional"`
	// Whether instances may share their host with those of other accounts.
	InstanceTenancy *Tenancy `lumi:"optional"`
	// The security group of instances that name none, if it is a resource. Amazon makes one with each network, which no
	// program has asked for.
	DefaultSecurityGroup *SecurityGroup `lumi:"out,optional"`
	// The blocks of IPv6 addresses that Amazon assigned to the network.
	IPv6CIDRBlocks []string `lumi:"name=ipv6CIDRBlocks,out"`
}

// Tenancy says with whom an instance shares the machine that it runs on.
type Tenancy string

// The kinds of tenancy.
const (
	// The host may serve several accounts.
	TenancyDefault Tenancy = "default"
	// The host serves this account alone.
	TenancyDedicated Tenancy = "dedicated"
	// The host serves this account alone and is rented as a whole. Only instances may ask for it, not networks.
	TenancyHost Tenancy = "host"
)
