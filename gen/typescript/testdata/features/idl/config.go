package features

import "github.com/lumi-idl/lumi/idl"

// Config is what the provider has to know.
type Config struct {
	idl.Config
	// Where everything is.
	Region string
	Token  *string            `lumi:"optional,secret"`
	Level  *Level             `lumi:"optional"`
	Proxy  *Proxy             `lumi:"optional"`
	Labels *map[string]string `lumi:"optional"`
}

// Proxy is a detour.
type Proxy struct {
	Host string
	Port *float64 `lumi:"optional"`
	// Only the proxy may know it.
	Password *string `lumi:"optional,secret"`
}
