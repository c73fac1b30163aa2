package local

import "github.com/lumi-idl/lumi/idl"

// An Unpacked is a directory with the files of an archive. Other files in it are neither changed nor deleted.
type Unpacked struct {
	idl.Resource
	// The path of the directory. Its parent directory must exist.
	Path string `lumi:"replaces"`
	// The archive with the files.
	Archive *idl.Archive
	// The SHA-256 of each file, in hexadecimal, by its name in the archive.
	Files map[string]string `lumi:"out"`
}
