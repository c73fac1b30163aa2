package iam

// A Group grants permissions to its users.
type Group struct {
	principal
	// The path of the group.
	Path *Path `lumi:"optional,default=/"`
}
