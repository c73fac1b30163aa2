package iam

import "github.com/lumi-idl/lumi/idl"

// Role and Policy use each other from two files.
type Role struct {
	idl.NamedResource
	Policies []Policy
}
