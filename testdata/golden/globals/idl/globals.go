package globals

import "github.com/lumi-idl/lumi/idl"

// Record, Array and Promise are called like types of TypeScript's.
type Record struct {
	idl.NamedResource
	Array   Array
	Promise *Promise `lumi:"optional"`
	Items   []Object
	Map     map[string]Array
}

type Array struct{ Length float64 }

type Promise struct{ Then string }

type Object struct {
	Partial *Array `lumi:"optional"`
}
