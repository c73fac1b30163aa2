package aws

import (
	"github.com/lumi-idl/lumi/idl"
)

// Config selects the provider's account and region and configures its requests.
type Config struct {
	idl.Config
	// The region of all resources.
	Region Region
	// The credentials. The default is Amazon's standard chain: environment variables, profiles, instance metadata.
	Credentials *Credentials `lumi:"optional"`
	// A role to assume with the credentials.
	AssumeRole *ARN `lumi:"optional,pattern=':role/',says='the ARN of a role'"`
	// URLs that replace Amazon's endpoints, by service, for example in tests.
	Endpoints *map[Service]string `lumi:"optional"`
	// The maximum number of retries of a throttled request.
	MaxRetries *int `lumi:"optional,min=0,max=100"`
	// Tags for all resources that support them. A resource's own tags take precedence.
	DefaultTags *Tags `lumi:"optional"`
}

// Credentials are an access key, and a session token if they are temporary.
type Credentials struct {
	// The access key ID.
	AccessKeyID string
	// The secret access key.
	SecretAccessKey string `lumi:"secret"`
	// The session token of temporary credentials.
	SessionToken *string `lumi:"optional,secret"`
}

// DefaultMaxRetries is the default maximum number of retries.
const DefaultMaxRetries = 8

// BackoffFactor is the growth factor of the delay between retries.
const BackoffFactor = 1.5

// VerifyTLS makes the provider verify the certificates of services.
const VerifyTLS = true
