package lambda

import (
	"github.com/lumi-idl/lumi/examples/aws/idl/dynamodb"
	"github.com/lumi-idl/lumi/examples/aws/idl/sqs"
	"github.com/lumi-idl/lumi/idl"
)

// An EventSourceMapping reads from a queue or stream and calls a Function with the records.
type EventSourceMapping struct {
	idl.Resource
	// The function to call.
	Function *Function
	// The queue or table to read from.
	Source EventSource `lumi:"replaces"`
	// The maximum number of records per call.
	BatchSize *int `lumi:"optional,min=1,max=10000"`
	// Whether the mapping is active. The default is true.
	Enabled *bool `lumi:"optional,default=true"`
	// The position in a stream to start from. Not used for queues.
	StartingPosition *StartingPosition `lumi:"optional,replaces"`
	// Event patterns. A record must match one of them. Each list contains alternatives for one field.
	FilterPatterns any `lumi:"optional"`
	// The ID of the mapping.
	UUID string `lumi:"out,fixed"`
}

// EventSource is a source of events.
type EventSource struct {
	idl.OneOf
	Queue *sqs.Queue
	// A table with a change stream.
	Table *dynamodb.Table
}

// StartingPosition is a position in a stream.
type StartingPosition string

// The starting positions.
const (
	// The oldest available record.
	StartingPositionTrimHorizon StartingPosition = "TRIM_HORIZON"
	// The first record written after the mapping is created.
	StartingPositionLatest StartingPosition = "LATEST"
)
