package features

import "github.com/lumi-idl/lumi/idl"

// B refers to A.
type B struct {
	idl.NamedResource
	Peer *A     `lumi:"optional"`
	Data *AData `lumi:"optional"`
}

// BData is data beside B.
type BData struct {
	A *AData `lumi:"optional"`
}

type holder struct{ B *B }
