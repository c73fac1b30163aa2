// Package sqs describes queues: a message waits in one until somebody has dealt with it.
package sqs

import (
	aws "github.com/lumi-idl/lumi/examples/aws/idl"
	"github.com/lumi-idl/lumi/examples/aws/idl/iam"
	"github.com/lumi-idl/lumi/idl"
)

// A Queue keeps messages until their receivers have deleted them.
type Queue struct {
	idl.NamedResource
	aws.Tagged
	// Whether messages arrive in order, and each of them once.
	FIFOQueue *bool `lumi:"optional,replaces"`
	// How long a new message stays out of sight.
	DelaySeconds *aws.Seconds `lumi:"optional,default=0,max=900"`
	// The size of the largest message that is accepted, in bytes.
	MaximumMessageSize *float64 `lumi:"optional,min=1024,max=1048576,multipleOf=1"`
	// How long a message is kept that nobody deletes.
	MessageRetentionPeriod *aws.Seconds `lumi:"optional,default=345600,min=60,max=1209600"`
	// How long a receiver waits for a message to arrive.
	ReceiveWaitTime *aws.Seconds `lumi:"optional,default=0,max=20,was=receiveMessageWaitTimeSeconds"`
	// How long a message stays out of sight once it has been received.
	VisibilityTimeout *aws.Seconds `lumi:"optional,default=30,max=43200"`
	// Where messages go that nobody can deal with.
	RedrivePolicy *RedrivePolicy `lumi:"optional"`
	// The name under which other things refer to the queue.
	ARN aws.ARN `lumi:"out"`
	// The address that messages are sent to.
	URL string `lumi:"out"`
}

// A RedrivePolicy takes messages aside that have been received again and again and never deleted.
type RedrivePolicy struct {
	// The queue that they are put into.
	DeadLetterTarget *Queue
	// How often a message may be received before it is taken aside.
	MaxReceiveCount float64 `lumi:"min=1,max=1000,multipleOf=1"`
}

// A QueuePolicy says who may do what with some queues.
type QueuePolicy struct {
	idl.Resource
	// The queues that the policy is for.
	Queues []Queue
	// What the policy allows and denies. Its statements name principals.
	PolicyDocument iam.PolicyDocument
}

// The limits of a queue.
const (
	// MaxMessageBytes is the size of the largest message that any queue accepts.
	MaxMessageBytes = 1 << 20
	// MaxRetention is how long a message can be kept, in seconds.
	MaxRetention = 14 * 24 * 60 * 60
)
