package features

import "github.com/lumi-idl/lumi/idl"

// Limits has properties with constraints.
type Limits struct {
	idl.Resource
	Port  float64  `lumi:"min=1,max=65535"`
	Ratio *float64 `lumi:"optional,max=0.5"`
}
