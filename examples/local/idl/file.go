package local

import "github.com/lumi-idl/lumi/idl"

// A File is a regular file. Writes are atomic.
type File struct {
	idl.Resource
	// The path of the file. Its directory must exist.
	Path string `lumi:"replaces"`
	// The content, as text. Exactly one of content and source is required.
	Content *string `lumi:"optional"`
	// The content, as an asset.
	Source *idl.Asset `lumi:"optional"`
	// The permissions as three octal digits. The default is 644. Use 600 for secret content.
	Mode *string `lumi:"optional"`
	// The SHA-256 of the content, in hexadecimal.
	Checksum string `lumi:"out"`
}
