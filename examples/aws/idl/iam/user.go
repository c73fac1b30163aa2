package iam

import (
	aws "github.com/lumi-idl/lumi/examples/aws/idl"
	"github.com/lumi-idl/lumi/idl"
)

// A User is a person, or a program outside of Amazon, that signs in with credentials of its own.
type User struct {
	principal
	aws.Tagged
	// The groups that the user is in.
	Groups *[]*Group `lumi:"optional"`
	// The place of the user in the account's hierarchy of names.
	Path *Path `lumi:"optional,default=/"`
	// The user's first password for the console. Without one, the user cannot sign in there.
	Password *string `lumi:"optional,in,secret"`
	// Whether the user has to choose another password when signing in for the first time.
	PasswordResetRequired *bool `lumi:"optional,in,requiredWith=password"`
	// A policy that bounds what the user may do, whatever other policies allow.
	PermissionsBoundary *Policy `lumi:"optional"`
}

// An AccessKey is a pair of keys with which a program signs requests in a User's name.
type AccessKey struct {
	idl.Resource
	// The user whose name the requests are signed in.
	User *User `lumi:"replaces"`
	// Whether requests that are signed with the key are accepted.
	Status *AccessKeyStatus `lumi:"optional,default=Active"`
	// A number to count up whenever the key is to be replaced by a new one.
	Serial *float64 `lumi:"optional,replaces"`
	// The public half of the pair.
	AccessKeyID string `lumi:"out"`
	// The private half of the pair. Amazon tells it once, when the pair is made.
	SecretAccessKey string `lumi:"out,secret"`
}

// AccessKeyStatus says whether a key is accepted.
type AccessKeyStatus string

// The states of a key.
const (
	// They are.
	ActiveAccessKeyStatus AccessKeyStatus = "Active"
	// They are not, for now.
	InactiveAccessKeyStatus AccessKeyStatus = "Inactive"
)
