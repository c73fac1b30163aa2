package local

import "github.com/lumi-idl/lumi/idl"

// ReadFile reads a text file of up to 16 MiB.
type ReadFile struct {
	idl.Function
	// The path of the file.
	Path string `lumi:"minLength=1"`
	// The content, which must be valid UTF-8.
	Content string `lumi:"out"`
	// The size of the file in bytes.
	Size int `lumi:"out"`
	// The SHA-256 of the content, in hexadecimal.
	Checksum string `lumi:"out"`
}
