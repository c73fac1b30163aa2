package iam

import (
	aws "github.com/lumi-idl/lumi/examples/aws/idl"
)

// A Role is an identity without a password: whoever its trust policy names may assume it and then has its permissions.
type Role struct {
	principal
	aws.Tagged
	// Who may assume the role.
	AssumeRolePolicyDocument PolicyDocument
	// What the role is for, in words.
	Description *string `lumi:"optional,maxLength=1000"`
	// The longest time that somebody may stay in the role.
	MaxSessionDuration *aws.Seconds `lumi:"optional,default=3600,min=3600,max=43200"`
	// The place of the role in the account's hierarchy of names.
	Path *Path `lumi:"optional,replaces,default=/"`
	// A policy that bounds what the role may do, whatever its other policies allow.
	PermissionsBoundary *Policy `lumi:"optional"`
	// The ID that Amazon gave the role, such as `AIDAJQABLZS4A3QDU576Q`.
	RoleID string `lumi:"out"`
}
