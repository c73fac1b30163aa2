package iam

import (
	aws "github.com/lumi-idl/lumi/examples/aws/idl"
	"github.com/lumi-idl/lumi/idl"
)

// A Policy is a set of permissions that can be attached to any number of users, groups and roles.
type Policy struct {
	idl.NamedResource
	// What the policy is for, in words.
	Description *string `lumi:"optional,replaces"`
	// The place of the policy in the account's hierarchy of names.
	Path *Path `lumi:"optional,replaces,default=/"`
	// What the policy allows and denies.
	PolicyDocument PolicyDocument
	// The groups that the policy is attached to.
	Groups *[]Group `lumi:"optional"`
	// The roles that the policy is attached to.
	Roles *[]Role `lumi:"optional"`
	// The users that the policy is attached to.
	Users *[]User `lumi:"optional"`
	// The name under which other things refer to the policy.
	ARN aws.ARN `lumi:"out"`
}

// A PolicyDocument is a list of statements. What no statement allows is denied.
type PolicyDocument struct {
	// The version of the policy language.
	Version *PolicyVersion `lumi:"name=Version,optional"`
	// The statements, in any order.
	Statement []PolicyStatement `lumi:"name=Statement"`
}

// A PolicyStatement allows or denies some actions on some things. Its properties are written as Amazon's policy
// language writes them, so that documents can be copied from elsewhere.
type PolicyStatement struct {
	// A name for the statement.
	Sid *string `lumi:"name=Sid,optional"`
	// Whether the statement allows or denies.
	Effect PolicyEffect `lumi:"name=Effect"`
	// Whom the statement is about: `*`, or a map from kinds of principal to names. A policy that is attached to a
	// principal leaves this out.
	Principal any `lumi:"name=Principal,optional"`
	// What may be done, such as `s3:GetObject`. A `*` stands for any text.
	Action []string `lumi:"name=Action"`
	// What it may be done to. A `*` stands for any text.
	Resource *[]aws.ARNPattern `lumi:"name=Resource,optional"`
	// When the statement applies: values to compare with, by operator and then by key.
	Condition *map[string]map[string]any `lumi:"name=Condition,optional"`
}

// PolicyVersion is a version of the policy language.
type PolicyVersion string

// The versions of the policy language.
const (
	// The current version, which has variables.
	PolicyVersion2012 PolicyVersion = "2012-10-17"
	// The older version, which Amazon assumes where none is given.
	PolicyVersion2008 PolicyVersion = "2008-10-17"
)

// PolicyEffect is what a statement does.
type PolicyEffect string

// What a statement may do. Denying wins.
const (
	Allow PolicyEffect = "Allow"
	Deny  PolicyEffect = "Deny"
)
