package local

import "github.com/lumi-idl/lumi/idl"

// kept is embedded by random resources.
type kept struct {
	idl.NamedResource
	// Arbitrary values. The random value stays the same until one of them changes.
	Keepers *map[string]string `lumi:"optional,replaces"`
}

// A RandomString is a secret random string for passwords and tokens.
type RandomString struct {
	kept
	// The number of characters.
	Length int `lumi:"replaces,min=1,max=4096"`
	// The characters to choose from. Repeated ones are more likely. The default is letters and digits.
	Characters *string `lumi:"optional,replaces"`
	// The string.
	Result string `lumi:"out,fixed,secret"`
}

// A RandomID is a random number for unique names. It is not a secret.
type RandomID struct {
	kept
	// The number of bytes.
	Bytes *int `lumi:"optional,replaces,default=8,min=1,max=4096"`
	// The number in hexadecimal, two digits per byte.
	Hex string `lumi:"out,fixed"`
	// The number in URL-safe base64, four characters per three bytes.
	Base64 string `lumi:"out,fixed"`
}
