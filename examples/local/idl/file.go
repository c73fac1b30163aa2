package local

import "github.com/lumi-idl/lumi/idl"

// A File is a regular file. It is written whole or not at all.
type File struct {
	idl.Resource
	// The path of the file. Its directory must exist.
	Path string `lumi:"replaces"`
	// The content, as text. Exactly one of content and source is required.
	Content *string `lumi:"optional"`
	// The content, as an asset.
	Source *idl.Asset `lumi:"optional"`
	// Who may read, write and execute the file, in three octal digits. The default is 644. For content that is a secret,
	// write 600.
	Mode *string `lumi:"optional"`
	// The SHA-256 of the content, in hexadecimal digits.
	Checksum string `lumi:"out"`
}
