package sns

import (
	"github.com/lumi-idl/lumi/examples/aws/idl/lambda"
	"github.com/lumi-idl/lumi/examples/aws/idl/sqs"
	"github.com/lumi-idl/lumi/idl"
)

// A Subscription passes the messages of a Topic on to one recipient.
type Subscription struct {
	idl.Resource
	// The topic whose messages to pass on.
	Topic *Topic `lumi:"replaces"`
	// How to pass them on.
	Protocol Protocol `lumi:"replaces"`
	// An address that is no resource: of a mailbox, a telephone or a web site.
	Endpoint *string `lumi:"optional,replaces,exactlyOneOf=target"`
	// A recipient that is a resource.
	Target *Target `lumi:"optional,replaces,exactlyOneOf=endpoint"`
	// The values that an attribute of a message may have for the message to be passed on, by attribute.
	FilterPolicy *map[string][]any `lumi:"optional"`
	// Whether to pass on the bare message, without a wrapping that says where it comes from.
	RawMessageDelivery *bool `lumi:"optional"`
	// The queue for messages that cannot be delivered.
	DeadLetterQueue *sqs.Queue `lumi:"optional"`
	// The name under which other things refer to the subscription. It has none before the recipient has confirmed it.
	SubscriptionARN *string `lumi:"out,optional"`
}

// Target is a resource that can receive messages.
type Target struct {
	idl.OneOf
	Queue    *sqs.Queue
	Function *lambda.Function
}

// Protocol is a way to pass on messages.
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
