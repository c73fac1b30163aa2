package modules

import (
	"github.com/lumi-idl/lumi/idl"
	"github.com/lumi-idl/lumi/testdata/golden/modules/idl/iam"
	net "github.com/lumi-idl/lumi/testdata/golden/modules/idl/net/ip"
)

// Site refers into other modules.
type Site struct {
	idl.NamedResource
	Role     *iam.Role
	Policy   iam.Policy
	Policies map[string]iam.Policy
	Effect   *iam.Effect  `lumi:"optional"`
	Address  *net.Address `lumi:"optional"`
	Backup   *Site        `lumi:"optional"`
}

// Policy has a name that the module iam uses too.
type Policy struct {
	Text string
	Of   iam.Policy
}

// IAM would hide the package iam.
type IAM struct {
	Policy Policy
}
