package aws

import (
	"github.com/lumi-idl/lumi/idl"
)

// Config says which account the provider works in, where, and on whose behalf.
type Config struct {
	idl.Config
	// The region in which all resources are created.
	Region Region
	// The keys to sign requests with. Without them, the provider looks where Amazon's own tools look.
	Credentials *Credentials `lumi:"optional"`
	// A role to assume once the credentials have been accepted.
	AssumeRole *ARN `lumi:"optional,pattern=':role/'"`
	// Addresses to use in place of Amazon's, by service. They serve to reach a substitute during tests.
	Endpoints *map[Service]string `lumi:"optional"`
	// How often a throttled request is repeated before it counts as failed.
	MaxRetries *float64 `lumi:"optional,min=0,max=100,multipleOf=1"`
	// Tags to put on everything that can be tagged, beneath a resource's own.
	DefaultTags *Tags `lumi:"optional"`
}

// Credentials are a pair of keys, and a token where the pair is a temporary one.
type Credentials struct {
	// The public half of the pair.
	AccessKeyID string
	// The private half of the pair.
	SecretAccessKey string `lumi:"secret"`
	// The token that came with a temporary pair.
	SessionToken *string `lumi:"optional,secret"`
}

// DefaultMaxRetries is used where the configuration does not say how often to repeat a request.
const DefaultMaxRetries = 8

// BackoffFactor is the factor by which the pause between two repetitions of a request grows.
const BackoffFactor = 1.5

// VerifyTLS says that the provider refuses to talk to a service whose certificate it cannot verify.
const VerifyTLS = true
