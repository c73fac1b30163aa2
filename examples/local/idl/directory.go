package local

import "github.com/lumi-idl/lumi/idl"

// A Directory is a directory for files made by other resources or programs.
type Directory struct {
	idl.Resource
	// The path of the directory. Its parent directory must exist.
	Path string `lumi:"replaces"`
	// The permissions as three octal digits. The default is 755.
	Mode *string `lumi:"optional"`
	// Whether deleting the directory also deletes its contents. By default, only an empty directory can be deleted. It
	// takes effect once deployed.
	Force *bool `lumi:"optional,in"`
}
