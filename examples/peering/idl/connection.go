// Package peering defines connections between networks that the AWS example defines.
//
//lumi:package=peering
package peering

import (
	"github.com/lumi-idl/lumi/examples/aws/idl/ec2"
	"github.com/lumi-idl/lumi/idl"
)

// A Connection routes traffic between two VPCs as if they were one network. Their addresses must not overlap.
type Connection struct {
	idl.NamedResource
	// The VPC that requests the connection.
	Requester *ec2.VPC `lumi:"replaces"`
	// The VPC that accepts the connection.
	Accepter *ec2.VPC `lumi:"replaces"`
	// Whether to accept the connection. Both VPCs must then belong to the same account.
	AutoAccept *bool `lumi:"optional,default=false"`
	// The connection ID, such as `pcx-111aaa22`.
	ConnectionID string `lumi:"out,fixed"`
}
