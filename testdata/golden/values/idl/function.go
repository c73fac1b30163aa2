package values

import "github.com/lumi-idl/lumi/idl"

// Function holds the types that only IDL has.
type Function struct {
	idl.NamedResource
	Code     *idl.Archive
	Layer    *idl.Archive `lumi:"optional"`
	Readme   *idl.Asset   `lumi:"optional,replaces"`
	Settings any
	Extra    any `lumi:"optional"`
	Result   any `lumi:"out"`
	Trigger  *idl.Resource
	Target   *idl.Resource `lumi:"optional"`
	Self     *Function     `lumi:"out"`
}
