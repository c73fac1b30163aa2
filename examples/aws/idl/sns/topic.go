// Package sns describes topics: whatever is sent to one goes to all of its subscribers.
package sns

import (
	aws "github.com/lumi-idl/lumi/examples/aws/idl"
	"github.com/lumi-idl/lumi/idl"
)

// A Topic takes messages and passes them on to everybody who has subscribed.
type Topic struct {
	idl.NamedResource
	aws.Tagged
	// The name that recipients of text messages see.
	DisplayName *string `lumi:"optional"`
	// Whether messages arrive in order, and each of them once.
	FIFOTopic *bool `lumi:"optional,replaces"`
	// How hard to try to deliver a message, by the protocol of the subscription.
	DeliveryPolicies *map[Protocol]DeliveryPolicy `lumi:"optional"`
	// The name under which other things refer to the topic.
	ARN aws.ARN `lumi:"out"`
}

// A DeliveryPolicy says how hard to try to deliver a message.
type DeliveryPolicy struct {
	// How often to try again.
	NumRetries float64
	// How long to wait before the first new attempt.
	MinDelayTarget aws.Seconds
	// How long to wait before the last one.
	MaxDelayTarget aws.Seconds
}
