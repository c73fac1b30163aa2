package ec2

import (
	"github.com/lumi-idl/lumi/idl"
)

// A SecurityGroup is a firewall for instances: it allows only traffic that matches one of its rules. For more
// information, see
// http://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-properties-ec2-security-group.html.
type SecurityGroup struct {
	idl.NamedResource `lumi:"maxLength=255,pattern='^[a-zA-Z0-9 ._:/()#,@\\[\\]+=&;{}!$*-]+$',says='letters, digits, spaces, and ._-:/()#,@[]+=&;{}!$*',nameScope=vpc"`
	// A description of the group. Amazon requires it and does not allow changes.
	GroupDescription string `lumi:"replace,minLength=1,maxLength=255,pattern='^[a-zA-Z0-9 ._:/()#,@\\[\\]+=&;{}!$*-]*$',says='letters, digits, spaces, and ._-:/()#,@[]+=&;{}!$*'"`
	// The VPC of the group. The default is the account's default VPC.
	VPC *VPC `lumi:"optional,replace"`
	// The rules for outbound traffic.
	SecurityGroupEgress *[]SecurityGroupRule `lumi:"optional,equal=set"`
	// The rules for inbound traffic.
	SecurityGroupIngress *[]SecurityGroupRule `lumi:"optional,equal=set"`
	// The group ID, such as `sg-94b3a1f6`.
	GroupID *string `lumi:"out,fixed"`
}

// A SecurityGroupRule allows one kind of traffic in a SecurityGroup.
//
//lumi:rule IPProtocol == "icmp" || IPProtocol == "1" || IPProtocol == "icmpv6" || IPProtocol == "58" || FromPort <= ToPort // the first port is above the last
//lumi:rule IPProtocol != "tcp" && IPProtocol != "6" && IPProtocol != "udp" && IPProtocol != "17" || has(FromPort) && has(ToPort) // TCP and UDP need both ports
type SecurityGroupRule struct {
	// The name or number of the IP protocol, or `-1` for all protocols.
	IPProtocol string
	// The address range of the other side, in CIDR notation.
	CIDRIP *string `lumi:"optional,format=cidr"`
	// The first port for TCP and UDP, or the ICMP type. `-1` matches all types.
	FromPort *int `lumi:"optional,min=-1,max=65535"`
	// The last port for TCP and UDP, or the ICMP code. `-1` matches all codes.
	ToPort *int `lumi:"optional,min=-1,max=65535"`
}
