// Package mymod stands in a folder whose name is not an identifier.
package mymod

import (
	"github.com/lumi-idl/lumi/gen/typescript/testdata/features/idl/deep/down"
	"github.com/lumi-idl/lumi/idl"
)

// Thing takes a struct from a folder below another.
type Thing struct {
	idl.NamedResource
	Deep *down.Deep `lumi:"optional"`
}
