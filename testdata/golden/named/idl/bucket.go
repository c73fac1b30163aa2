// Package named has the smallest resource that a program names.
package named

import "github.com/lumi-idl/lumi/idl"

// Bucket holds objects.
type Bucket struct {
	idl.NamedResource
}
