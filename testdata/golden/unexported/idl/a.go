package unexported

import "github.com/lumi-idl/lumi/idl"

// Box uses what is not exported.
type Box struct {
	idl.NamedResource
	Inner inner
	More  *[]inner `lumi:"optional"`
	Color color
}

const secret = 1

// Public is exported.
const Public = secret + 1
