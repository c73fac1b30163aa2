package feature

import "github.com/lumi-idl/lumi/idl"

// Config is the configuration of the provider.
type Config struct {
	idl.Config
	// Region is the location of resources.
	Region string
	// Password opens the door.
	Password *string `lumi:"optional,secret"`
}
