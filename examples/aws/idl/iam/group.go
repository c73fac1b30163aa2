package iam

// A Group gives permissions to all users that are in it.
type Group struct {
	principal
	// The place of the group in the account's hierarchy of names.
	Path *Path `lumi:"optional,default=/"`
}
