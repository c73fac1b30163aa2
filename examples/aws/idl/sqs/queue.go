// Package sqs defines message queues.
package sqs

import (
	aws "github.com/lumi-idl/lumi/examples/aws/idl"
	"github.com/lumi-idl/lumi/examples/aws/idl/iam"
	"github.com/lumi-idl/lumi/idl"
)

// A Queue keeps messages until a consumer deletes them.
type Queue struct {
	idl.NamedResource `lumi:"maxLength=80,pattern='^[A-Za-z0-9_-]+(\\.fifo)?$',says='letters, digits, _, and -, perhaps followed by .fifo'"`
	aws.Tagged
	// Whether messages arrive in order and exactly once.
	FIFOQueue *bool `lumi:"optional,replaces"`
	// The delay before a new message becomes visible.
	DelaySeconds *aws.Seconds `lumi:"optional,default=0,max=900"`
	// The maximum size of a message, in bytes.
	MaximumMessageSize *int `lumi:"optional,min=1024,max=1048576"`
	// How long unconsumed messages are kept.
	MessageRetentionPeriod *aws.Seconds `lumi:"optional,default=345600,min=60,max=1209600"`
	// How long a receive call waits for a message.
	ReceiveWaitTime *aws.Seconds `lumi:"optional,default=0,max=20,was=receiveMessageWaitTimeSeconds"`
	// How long a received message stays invisible to other consumers.
	VisibilityTimeout *aws.Seconds `lumi:"optional,default=30,max=43200"`
	// The handling of messages that fail repeatedly.
	RedrivePolicy *RedrivePolicy `lumi:"optional"`
	// The ARN of the queue.
	ARN aws.ARN `lumi:"out,fixed"`
	// The URL of the queue.
	URL string `lumi:"out,fixed"`
}

// A RedrivePolicy moves messages that fail repeatedly to a dead-letter queue.
type RedrivePolicy struct {
	// The dead-letter queue.
	DeadLetterTarget *Queue
	// The number of receives before a message is moved.
	MaxReceiveCount int `lumi:"min=1,max=1000"`
}

// A QueuePolicy controls access to queues.
type QueuePolicy struct {
	idl.Resource
	// The queues.
	Queues []Queue
	// The policy document. Its statements name principals.
	PolicyDocument iam.PolicyDocument
}

// The limits of a queue.
const (
	// MaxMessageBytes is the maximum message size of any queue, in bytes.
	MaxMessageBytes = 1 << 20
	// MaxRetention is the maximum retention period, in seconds.
	MaxRetention = 14 * 24 * 60 * 60
)
