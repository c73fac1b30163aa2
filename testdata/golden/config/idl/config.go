package config

import "github.com/lumi-idl/lumi/idl"

// Config is how the provider reaches the cloud.
type Config struct {
	idl.Config
	// Region is where resources live.
	Region string
	// Key is the secret key.
	Key   *string `lumi:"optional,secret"`
	Retry *Retry  `lumi:"optional"`
	Zones []string
}

// Retry says how often to try again.
type Retry struct {
	Times float64
}
