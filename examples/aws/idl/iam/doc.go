// Package iam defines identities and their permissions: users, groups, roles and policies.
//
// Its types refer to each other: a role names its policies, and a policy names the roles that it is attached to. Either
// side may be used.
package iam
