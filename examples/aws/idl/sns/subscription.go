package sns

import (
	"github.com/lumi-idl/lumi/examples/aws/idl/lambda"
	"github.com/lumi-idl/lumi/examples/aws/idl/sqs"
	"github.com/lumi-idl/lumi/idl"
)

// A Subscription delivers the messages of a Topic to one recipient.
type Subscription struct {
	idl.Resource
	// The topic.
	Topic *Topic `lumi:"replaces"`
	// The delivery protocol.
	Protocol Protocol `lumi:"replaces"`
	// A recipient that is not a resource: an email address, a phone number or a URL.
	Endpoint *string `lumi:"optional,replaces,exactlyOneOf=target"`
	// A recipient that is a resource.
	Target *Target `lumi:"optional,replaces,exactlyOneOf=endpoint"`
	// The allowed values of message attributes, by attribute. Other messages are not delivered.
	FilterPolicy *map[string][]any `lumi:"optional"`
	// Whether to deliver the message body without the SNS envelope.
	RawMessageDelivery *bool `lumi:"optional"`
	// The queue for undeliverable messages.
	DeadLetterQueue *sqs.Queue `lumi:"optional"`
	// The ARN of the subscription. Unset until the recipient confirms it.
	SubscriptionARN *string `lumi:"out,optional"`
}

// Target is a resource that can receive messages.
type Target struct {
	idl.OneOf
	Queue    *sqs.Queue
	Function *lambda.Function
}

// Protocol is a delivery protocol.
type Protocol string

// The protocols.
const (
	HTTPProtocol   Protocol = "http"
	HTTPSProtocol  Protocol = "https"
	EmailProtocol  Protocol = "email"
	SMSProtocol    Protocol = "sms"
	SQSProtocol    Protocol = "sqs"
	LambdaProtocol Protocol = "lambda"
)
