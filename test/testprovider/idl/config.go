package feature

import "github.com/lumi-idl/lumi/idl"

// Config is what the provider is configured with.
type Config struct {
	idl.Config
	// Region is where things are.
	Region string
	// Password opens the door.
	Password *string `lumi:"optional,secret"`
}
