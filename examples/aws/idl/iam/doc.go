// Package iam defines identities and their permissions: users, groups, roles, and policies.
//
// Roles and policies can refer to each other: a role lists its policies, and a policy lists the roles that it is attached
// to. Declare an attachment on either side.
package iam
