// Package dynamodb describes tables of records that are found by their keys.
package dynamodb

import (
	aws "github.com/lumi-idl/lumi/examples/aws/idl"
	"github.com/lumi-idl/lumi/idl"
)

// A Table holds records. Each is found by a key of one or two attributes, or through an index.
type Table struct {
	idl.NamedResource
	aws.Tagged
	// The types of all attributes that are part of a key, by name.
	Attributes map[string]AttributeType
	// The key of the table: the attribute that spreads the records and perhaps one that sorts them.
	Key KeySchema `lumi:"replaces"`
	// Whether to pay for each request or for a capacity.
	BillingMode *BillingMode `lumi:"optional"`
	// The capacity, where that is what is paid for.
	Throughput *Throughput `lumi:"optional"`
	// Further ways to find a record, by name.
	GlobalSecondaryIndexes *map[string]GlobalSecondaryIndex `lumi:"optional"`
	// Further ways to sort records that share the first part of their key, by name.
	LocalSecondaryIndexes *map[string]Index `lumi:"optional,replaces"`
	// What to write to the table's stream of changes. There is no stream where this is left out.
	StreamViewType *StreamViewType `lumi:"optional"`
	// The attribute that says when a record goes.
	TimeToLiveAttribute *string `lumi:"optional"`
	// Whether the table can be set back to any moment of the last weeks.
	PointInTimeRecovery *bool `lumi:"optional"`
	// The name under which other things refer to the table.
	ARN aws.ARN `lumi:"out"`
	// The name of the stream of changes, where there is one.
	StreamARN *aws.ARN `lumi:"out,optional"`
}

// KeySchema names the attributes that make up a key.
type KeySchema struct {
	// The attribute that decides where a record is kept.
	Hash string
	// The attribute that sorts the records that are kept in one place.
	Range *string `lumi:"optional"`
}

// An Index is a copy of some attributes of all records, under another key.
type Index struct {
	// The key of the index.
	Key KeySchema
	// Which attributes are copied, beside those of the keys.
	Projection Projection
}

// A GlobalSecondaryIndex is an Index with a capacity of its own.
type GlobalSecondaryIndex struct {
	Index
	// The capacity of the index, where that is what is paid for.
	Throughput *Throughput `lumi:"optional"`
}

// A Projection says which attributes are in an Index.
type Projection struct {
	// Whether that is all of them, some, or just the keys.
	ProjectionType ProjectionType
	// The names of the attributes, where it is some.
	NonKeyAttributes *[]string `lumi:"optional"`
}

// Throughput is how much a table or an index sustains.
type Throughput struct {
	// How many reads of 4 KiB a second.
	ReadCapacityUnits float64
	// How many writes of 1 KiB a second.
	WriteCapacityUnits float64
}

// AttributeType is the type of an attribute that is part of a key.
type AttributeType string

// The types of attributes.
const (
	// A text, sorted by its bytes in UTF-8.
	AttributeTypeString AttributeType = "S"
	// A number.
	AttributeTypeNumber AttributeType = "N"
	// Bytes.
	AttributeTypeBinary AttributeType = "B"
)

// BillingMode is what is paid for.
type BillingMode string

// The modes of billing.
const (
	// A capacity, used or not.
	BillingModeProvisioned BillingMode = "PROVISIONED"
	// Each request.
	BillingModePayPerRequest BillingMode = "PAY_PER_REQUEST"
)

// ProjectionType is a choice of attributes.
type ProjectionType string

// The choices of attributes.
const (
	// None but those of the keys.
	ProjectionTypeKeysOnly ProjectionType = "KEYS_ONLY"
	// Those of the keys and some more.
	ProjectionTypeInclude ProjectionType = "INCLUDE"
	// All of them.
	ProjectionTypeAll ProjectionType = "ALL"
)

// StreamViewType is what a stream tells about a change.
type StreamViewType string

// What a stream may tell about a change.
const (
	// The key of the record.
	StreamViewTypeKeysOnly StreamViewType = "KEYS_ONLY"
	// The record as it is now.
	StreamViewTypeNewImage StreamViewType = "NEW_IMAGE"
	// The record as it was before.
	StreamViewTypeOldImage StreamViewType = "OLD_IMAGE"
	// The record as it was and as it is.
	StreamViewTypeNewAndOldImages StreamViewType = "NEW_AND_OLD_IMAGES"
)
