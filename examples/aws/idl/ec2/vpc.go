package ec2

import (
	aws "github.com/lumi-idl/lumi/examples/aws/idl"
	"github.com/lumi-idl/lumi/idl"
)

// A VPC is an isolated network of the account in one region. Subnets divide it, and route tables direct its traffic.
//
//lumi:rule !EnableDNSHostnames || EnableDNSSupport // public host names need DNS support
//lumi:rule InstanceTenancy != TenancyHost // only instances can have the tenancy "host"
type VPC struct {
	idl.NamedResource
	aws.Tagged
	// The addresses of the VPC, in CIDR notation: a block from `/16` to `/28`.
	CIDRBlock string `lumi:"replaces"`
	// Whether instances with public addresses get public host names. Requires EnableDNSSupport.
	EnableDNSHostnames *bool `lumi:"optional"`
	// Whether Amazon's DNS server is available in the VPC. The default is true.
	EnableDNSSupport *bool `lumi:"optional"`
	// The default tenancy of instances.
	InstanceTenancy *Tenancy `lumi:"optional"`
	// The security group of instances without one, if it is a managed resource. Amazon creates one with each VPC.
	DefaultSecurityGroup *SecurityGroup `lumi:"out,fixed,optional"`
	// The IPv6 blocks that Amazon assigned to the VPC.
	IPv6CIDRBlocks []string `lumi:"name=ipv6CIDRBlocks,out"`
}

// Tenancy is whether a host is shared with other accounts.
type Tenancy string

// The tenancies.
const (
	// The host may be shared with other accounts.
	TenancyDefault Tenancy = "default"
	// The host is dedicated to the account.
	TenancyDedicated Tenancy = "dedicated"
	// The instance runs on a dedicated host that the account rents as a whole. Not available for VPCs.
	TenancyHost Tenancy = "host"
)
