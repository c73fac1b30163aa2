package iam

import (
	aws "github.com/lumi-idl/lumi/examples/aws/idl"
	"github.com/lumi-idl/lumi/idl"
)

// principal is what users, groups and roles have in common: each of them can be given permissions.
type principal struct {
	idl.NamedResource
	// Policies that stand on their own and may be attached to others, too.
	ManagedPolicies *[]*Policy `lumi:"optional"`
	// Policies that belong to this resource alone, by name.
	InlinePolicies *map[string]PolicyDocument `lumi:"optional"`
	// The name under which policies refer to this resource.
	ARN aws.ARN `lumi:"out"`
}

// A Path is a place in the account's hierarchy of names, such as `/staff/`. It begins and ends with a slash.
//
//lumi:maxLength=512,pattern='^/([!-~]+/)?$'
type Path string

// DefaultPath is the path of everything that is given none.
const DefaultPath = "/"
