package iam

// Policy refers back to roles, and to itself.
type Policy struct {
	Roles  []*Role
	Parent *Policy `lumi:"optional"`
	Effect Effect
}

// Effect is what a policy does.
type Effect string

const (
	Allow Effect = "Allow"
	Deny  Effect = "Deny"
)
