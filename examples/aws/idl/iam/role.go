package iam

import (
	aws "github.com/lumi-idl/lumi/examples/aws/idl"
)

// A Role is an identity without credentials. The principals in its trust policy can assume it to get its permissions.
type Role struct {
	principal
	aws.Tagged
	// The trust policy.
	AssumeRolePolicyDocument PolicyDocument
	// A description of the role.
	Description *string `lumi:"optional,maxLength=1000"`
	// The maximum duration of a session.
	MaxSessionDuration *aws.Seconds `lumi:"optional,default=3600,min=3600,max=43200"`
	// The path of the role.
	Path *Path `lumi:"optional,replaces,default=/"`
	// A policy that limits the role's permissions, regardless of its other policies.
	PermissionsBoundary *Policy `lumi:"optional"`
	// The role ID, such as `AIDAJQABLZS4A3QDU576Q`.
	RoleID string `lumi:"out,fixed"`
}
