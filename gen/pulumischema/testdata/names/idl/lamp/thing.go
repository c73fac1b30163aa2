package lamp

import "github.com/lumi-idl/lumi/idl"

type Thing struct {
	idl.Resource
	Size int
}
