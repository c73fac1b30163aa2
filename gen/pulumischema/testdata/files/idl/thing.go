// Package files has tokens with files.
//
//lumi:package=files,tokens=file
package files

import "github.com/lumi-idl/lumi/idl"

// Now returns the time.
type Now struct {
	idl.Function
	Time string `lumi:"out"`
}

// A Thing is in the root folder.
type Thing struct {
	idl.Resource
	Part *Part `lumi:"optional"`
}

// A Part has no token in the IDL.
type Part struct {
	Size int
}
