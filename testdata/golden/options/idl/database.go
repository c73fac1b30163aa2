package options

import "github.com/lumi-idl/lumi/idl"

// Database uses every option of the tag, alone and together.
type Database struct {
	idl.NamedResource
	Engine   string   `lumi:"replaces"`
	Version  *string  `lumi:"optional,replace"`
	Size     float64  // Size is in GiB.
	Password string   `lumi:"in,secret"`
	Seed     *string  `lumi:"optional,in,replaces"`
	Public   *bool    `lumi:"optional"`
	Address  string   `lumi:"out"`
	Port     *float64 `lumi:"out"`
	Replica  *string  `lumi:"out,optional"`
	Token    *string  `lumi:"out,secret"`
	Users    []User
	Owner    *User `lumi:"optional"`
	Report   User  `lumi:"out"`
}

// User may log in.
type User struct {
	Login string
	Key   *string `lumi:"optional,secret"`
}
