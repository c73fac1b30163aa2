package iam

import (
	aws "github.com/lumi-idl/lumi/examples/aws/idl"
	"github.com/lumi-idl/lumi/idl"
)

// A Policy is a set of permissions that can be attached to any number of users, groups, and roles.
type Policy struct {
	idl.NamedResource `lumi:"maxLength=128,pattern='^[A-Za-z0-9_+=,.@-]+$',says='letters, digits, and _+=,.@-'"`
	// A description of the policy.
	Description *string `lumi:"optional,replaces"`
	// The path of the policy.
	Path *Path `lumi:"optional,replaces,default=/"`
	// The policy document.
	PolicyDocument PolicyDocument
	// The groups that the policy is attached to.
	Groups *[]Group `lumi:"optional"`
	// The roles that the policy is attached to.
	Roles *[]Role `lumi:"optional"`
	// The users that the policy is attached to.
	Users *[]User `lumi:"optional"`
	// The ARN of the policy.
	ARN aws.ARN `lumi:"out,fixed"`
}

// A PolicyDocument is a list of statements. What no statement allows is denied.
type PolicyDocument struct {
	// The version of the policy language.
	Version *PolicyVersion `lumi:"name=Version,optional"`
	// The statements. Their order does not matter.
	Statement []PolicyStatement `lumi:"name=Statement"`
}

// A PolicyStatement allows or denies actions on resources. Its properties have the names of Amazon's policy language,
// so that existing documents can be copied.
type PolicyStatement struct {
	// An ID for the statement.
	Sid *string `lumi:"name=Sid,optional"`
	// Whether the statement allows or denies the actions.
	Effect PolicyEffect `lumi:"name=Effect"`
	// The principals: `*`, or a map from principal types to names. Omit it in policies that are attached to a
	// principal.
	Principal any `lumi:"name=Principal,optional"`
	// The actions, such as `s3:GetObject`. `*` matches any text.
	Action []string `lumi:"name=Action"`
	// The ARNs of the resources. `*` matches any text.
	Resource *[]aws.ARNPattern `lumi:"name=Resource,optional"`
	// The conditions under which the statement applies: values by operator and key.
	Condition *map[string]map[string]any `lumi:"name=Condition,optional"`
}

// PolicyVersion is a version of the policy language.
type PolicyVersion string

// The versions of the policy language.
const (
	// The current version, which supports variables.
	PolicyVersion2012 PolicyVersion = "2012-10-17"
	// The older version, which is Amazon's default.
	PolicyVersion2008 PolicyVersion = "2008-10-17"
)

// PolicyEffect is the effect of a statement.
type PolicyEffect string

// The effects of a statement. Deny takes precedence.
const (
	Allow PolicyEffect = "Allow"
	Deny  PolicyEffect = "Deny"
)
