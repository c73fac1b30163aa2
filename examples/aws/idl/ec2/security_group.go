package ec2

import (
	"github.com/lumi-idl/lumi/idl"
)

// A SecurityGroup is a firewall around instances: it lets through what one of its rules allows, and nothing else. For
// more information, see
// http://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-properties-ec2-security-group.html.
type SecurityGroup struct {
	idl.NamedResource
	// What the group is for, in words. Amazon insists on a description and never lets it change.
	GroupDescription string `lumi:"replace"`
	// The VPC that the group belongs to (or blank for the account's default VPC).
	VPC *VPC `lumi:"optional,replace"`
	// The rules for traffic that leaves the group's members.
	SecurityGroupEgress *[]SecurityGroupRule `lumi:"optional"`
	// The rules for traffic that arrives at the group's members.
	SecurityGroupIngress *[]SecurityGroupRule `lumi:"optional"`
	// The ID that Amazon gave the group, such as `sg-94b3a1f6`.
	GroupID *string `lumi:"out"`
}

// A SecurityGroupRule allows one kind of traffic; it stands inside a SecurityGroup.
type SecurityGroupRule struct {
	// The name or number of the IP protocol, or `-1` for all of them.
	IPProtocol string
	// The range of addresses on the other side, in CIDR notation.
	CIDRIP *string `lumi:"optional,format=cidr"`
	// The first port of the range for TCP and UDP, or the type of an ICMP message. The type `-1` stands for any ICMP
	// message.
	FromPort *float64 `lumi:"optional,min=-1,max=65535,multipleOf=1"`
	// The last port of the range for TCP and UDP, or the code of an ICMP message. The code `-1` stands for any code of
	// the type.
	ToPort *float64 `lumi:"optional,min=-1,max=65535,multipleOf=1"`
}
