package iam

import (
	aws "github.com/lumi-idl/lumi/examples/aws/idl"
	"github.com/lumi-idl/lumi/idl"
)

// principal is embedded by users, groups and roles, which can be granted permissions.
type principal struct {
	idl.NamedResource `lumi:"pattern='^[A-Za-z0-9_+=,.@-]+$',says='letters, digits, and _+=,.@-'"`
	// The attached managed policies, which other identities can share.
	ManagedPolicies *[]*Policy `lumi:"optional"`
	// The inline policies, by name.
	InlinePolicies *map[string]PolicyDocument `lumi:"optional"`
	// The ARN of the identity.
	ARN aws.ARN `lumi:"out"`
}

// A Path groups identities, such as `/staff/`.
//
//lumi:maxLength=512,pattern='^/([!-~]+/)?$',says='a path that begins and ends with a slash'
type Path string

// DefaultPath is the default path.
const DefaultPath = "/"
