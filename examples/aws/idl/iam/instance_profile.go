package iam

import (
	aws "github.com/lumi-idl/lumi/examples/aws/idl"
	"github.com/lumi-idl/lumi/idl"
)

// An InstanceProfile hands a role to the programs on an instance.
type InstanceProfile struct {
	idl.NamedResource
	// The place of the profile in the account's hierarchy of names.
	Path *Path `lumi:"optional,replaces,default=/"`
	// The roles to hand over. Amazon accepts exactly one.
	Roles []*Role `lumi:"minItems=1,maxItems=1"`
	// The name under which other things refer to the profile.
	ARN aws.ARN `lumi:"out"`
}
