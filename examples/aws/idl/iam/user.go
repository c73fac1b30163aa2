package iam

import (
	aws "github.com/lumi-idl/lumi/examples/aws/idl"
	"github.com/lumi-idl/lumi/idl"
)

// A User is a person or an external program that signs in with its own credentials.
type User struct {
	principal
	aws.Tagged
	// The groups of the user.
	Groups *[]*Group `lumi:"optional"`
	// The path of the user.
	Path *Path `lumi:"optional,default=/"`
	// The initial console password. Without one, the user cannot sign in to the console.
	Password *string `lumi:"optional,in,secret"`
	// Whether the user must change the password at the first sign-in.
	PasswordResetRequired *bool `lumi:"optional,in,requiredWith=password"`
	// A policy that limits the user's permissions, regardless of other policies.
	PermissionsBoundary *Policy `lumi:"optional"`
}

// An AccessKey is a key pair with which a program signs requests as a User.
type AccessKey struct {
	idl.Resource
	// The user of the key.
	User *User `lumi:"replaces"`
	// Whether the key is active.
	Status *AccessKeyStatus `lumi:"optional,default=Active"`
	// A counter. Increase it to replace the key.
	Serial *int `lumi:"optional,replaces"`
	// The access key ID.
	AccessKeyID string `lumi:"out,fixed"`
	// The secret access key. Amazon returns it only when the key is created.
	SecretAccessKey string `lumi:"out,fixed,secret"`
}

// AccessKeyStatus is the status of a key.
type AccessKeyStatus string

// The statuses of a key.
const (
	// Requests signed with the key are accepted.
	ActiveAccessKeyStatus AccessKeyStatus = "Active"
	// Requests signed with the key are rejected.
	InactiveAccessKeyStatus AccessKeyStatus = "Inactive"
)
