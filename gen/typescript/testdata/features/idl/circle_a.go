package features

import "github.com/lumi-idl/lumi/idl"

// A refers to B, which stands in another file that refers to this one.
type A struct {
	idl.NamedResource
	Peer    *B       `lumi:"optional"`
	Holder  *holder  `lumi:"optional"`
	Holders *[]BData `lumi:"optional"`
}

// AData is data beside A.
type AData struct {
	B *BData `lumi:"optional"`
	A *A     `lumi:"optional"`
}
