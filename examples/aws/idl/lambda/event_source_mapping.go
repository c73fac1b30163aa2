package lambda

import (
	"github.com/lumi-idl/lumi/examples/aws/idl/dynamodb"
	"github.com/lumi-idl/lumi/examples/aws/idl/sqs"
	"github.com/lumi-idl/lumi/idl"
)

// An EventSourceMapping reads a queue or a stream and calls a Function with what it finds.
type EventSourceMapping struct {
	idl.Resource
	// The function to call.
	Function *Function
	// What to read.
	Source EventSource `lumi:"replaces"`
	// How many records to hand over in one call, at most.
	BatchSize *float64 `lumi:"optional,min=1,max=10000,multipleOf=1"`
	// Whether to read at all. It does, unless told otherwise.
	Enabled *bool `lumi:"optional,default=true"`
	// Where in a stream to begin. Queues do not need it.
	StartingPosition *StartingPosition `lumi:"optional,replaces"`
	// Patterns of which a record has to fit one. In each list are alternatives for one and the same field.
	FilterPatterns any `lumi:"optional"`
	// The ID that Amazon gave the mapping.
	UUID string `lumi:"out"`
}

// EventSource is what events can be read from.
type EventSource struct {
	idl.OneOf
	Queue *sqs.Queue
	// A table that has a stream.
	Table *dynamodb.Table
}

// StartingPosition is a place in a stream.
type StartingPosition string

// The places in a stream where reading may begin.
const (
	// With the oldest record that is still there.
	StartingPositionTrimHorizon StartingPosition = "TRIM_HORIZON"
	// With the first record that is written from now on.
	StartingPositionLatest StartingPosition = "LATEST"
)
