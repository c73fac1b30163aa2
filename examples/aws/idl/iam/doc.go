// Package iam describes who may do what: users, groups, roles, and the policies that give them permissions.
//
// Its types refer to each other in circles: a role names its policies, and a policy names the roles that it is attached
// to. Either end may be used.
package iam
