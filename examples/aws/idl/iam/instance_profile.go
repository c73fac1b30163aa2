package iam

import (
	aws "github.com/lumi-idl/lumi/examples/aws/idl"
	"github.com/lumi-idl/lumi/idl"
)

// An InstanceProfile passes a role to the programs on an instance.
type InstanceProfile struct {
	idl.NamedResource
	// The path of the profile.
	Path *Path `lumi:"optional,replaces,default=/"`
	// The roles. Amazon accepts exactly one.
	Roles []*Role `lumi:"minItems=1,maxItems=1"`
	// The ARN of the profile.
	ARN aws.ARN `lumi:"out"`
}
