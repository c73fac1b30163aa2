package local

import "github.com/lumi-idl/lumi/idl"

// An Unpacked is a directory with the files of an archive. Files of others in it are neither changed nor deleted.
type Unpacked struct {
	idl.Resource
	// The path of the directory. The directory that it is in must exist.
	Path string `lumi:"replaces"`
	// The files.
	Archive *idl.Archive
	// The SHA-256 of each file, in hexadecimal digits, by the file's name in the archive.
	Files map[string]string `lumi:"out"`
}
