package names

import "github.com/lumi-idl/lumi/idl"

// URN is lowered to a name that stubs use for a package, and so becomes urn_.
type URN struct {
	idl.Resource
	VPC        string
	IPProtocol string
	GroupID    string
	CIDRIP     string
	ETag       string
	Class      string
	Given      string `lumi:"name=chosen"`
	Older      string `lumi:"arn"`
	Dollar     string `lumi:"name=$ref"`
}

// Type is lowered to a keyword.
type Type struct {
	String string
	Type   *Type `lumi:"optional"`
}
