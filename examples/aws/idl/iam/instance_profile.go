package iam

import (
	aws "github.com/lumi-idl/lumi/examples/aws/idl"
	"github.com/lumi-idl/lumi/idl"
)

// An InstanceProfile hands a role to the programs on an instance.
type InstanceProfile struct {
	idl.NamedResource
	// The place of the profile in the account's hierarchy of names.
	Path *string `lumi:"optional,replaces"`
	// The roles to hand over. Amazon accepts exactly one.
	Roles []*Role
	// The name under which other things refer to the profile.
	ARN aws.ARN `lumi:"out"`
}
