package local

import "github.com/lumi-idl/lumi/idl"

// A Directory contains files that are made by others: other resources, or programs.
type Directory struct {
	idl.Resource
	// The path of the directory. The directory that it is in must exist.
	Path string `lumi:"replaces"`
	// Who may list, change and enter the directory, in three octal digits. The default is 755.
	Mode *string `lumi:"optional"`
	// Whether the directory is deleted together with its content. By default, only an empty one is deleted. It has an
	// effect once it is deployed.
	Force *bool `lumi:"optional,in"`
}
