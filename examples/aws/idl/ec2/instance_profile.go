package ec2

import (
	aws "github.com/lumi-idl/lumi/examples/aws/idl"
	"github.com/lumi-idl/lumi/examples/aws/idl/iam"
	"github.com/lumi-idl/lumi/idl"
)

// An InstanceProfile passes a role to the programs on an Instance.
//
//lumi:was='aws:iam:InstanceProfile'
type InstanceProfile struct {
	idl.NamedResource `lumi:"maxLength=128,pattern='^[A-Za-z0-9_+=,.@-]+$',says='letters, digits, and _+=,.@-'"`
	// The path of the profile.
	Path *iam.Path `lumi:"optional,replaces,default=/"`
	// The roles. Amazon accepts exactly one.
	Roles []*iam.Role `lumi:"minItems=1,maxItems=1"`
	// The ARN of the profile.
	ARN aws.ARN `lumi:"out,fixed"`
}
