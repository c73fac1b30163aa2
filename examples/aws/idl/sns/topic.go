// Package sns defines publish/subscribe topics.
package sns

import (
	aws "github.com/lumi-idl/lumi/examples/aws/idl"
	"github.com/lumi-idl/lumi/idl"
)

// A Topic delivers messages to all of its subscribers.
type Topic struct {
	idl.NamedResource `lumi:"maxLength=256,pattern='^[A-Za-z0-9_-]+(\\.fifo)?$',says='letters, digits, _, and -, perhaps followed by .fifo'"`
	aws.Tagged
	// The sender name in text messages.
	DisplayName *string `lumi:"optional"`
	// Whether messages arrive in order and exactly once.
	FIFOTopic *bool `lumi:"optional,replaces"`
	// The retry policies, by protocol.
	DeliveryPolicies *map[Protocol]DeliveryPolicy `lumi:"optional"`
	// The policy that masks sensitive data in messages.
	DataProtectionPolicy *string `lumi:"optional,equal=json,format=json"`
	// The ARN of the topic.
	ARN aws.ARN `lumi:"out,fixed"`
}

// A DeliveryPolicy configures retries.
type DeliveryPolicy struct {
	// The number of retries.
	NumRetries int
	// The delay before the first retry.
	MinDelayTarget aws.Seconds
	// The delay before the last retry.
	MaxDelayTarget aws.Seconds
}
