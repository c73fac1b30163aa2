package local

import "github.com/lumi-idl/lumi/idl"

// kept is a part of everything that is random.
type kept struct {
	idl.NamedResource
	// What the value belongs to. If any of it changes, there is a new value. Otherwise the value stays the same.
	Keepers *map[string]string `lumi:"optional,replaces"`
}

// A RandomString is a string for passwords and tokens, a secret.
type RandomString struct {
	kept
	// The number of characters.
	Length float64 `lumi:"replaces"`
	// The characters to choose from, each as likely as it is frequent here. The default is letters and digits.
	Characters *string `lumi:"optional,replaces"`
	// The string.
	Result string `lumi:"out,secret"`
}

// A RandomID is a number for names that must differ from all others. It is not a secret.
type RandomID struct {
	kept
	// The number of bytes. The default is 8.
	Bytes *float64 `lumi:"optional,replaces"`
	// The number in hexadecimal digits, two for each byte.
	Hex string `lumi:"out"`
	// The number in letters, digits, - and _, four for each three bytes.
	Base64 string `lumi:"out"`
}
