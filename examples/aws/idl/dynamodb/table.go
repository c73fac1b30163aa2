// Package dynamodb defines key-value tables.
package dynamodb

import (
	aws "github.com/lumi-idl/lumi/examples/aws/idl"
	"github.com/lumi-idl/lumi/idl"
)

// A Table stores records under a key of one or two attributes. Indexes provide other keys.
type Table struct {
	idl.NamedResource `lumi:"minLength=3,maxLength=255,pattern='^[A-Za-z0-9_.-]+$',says='letters, digits, _, periods, and hyphens'"`
	aws.Tagged
	// The types of all key attributes, by name.
	Attributes map[string]AttributeType
	// The primary key: a partition key and an optional sort key.
	Key KeySchema `lumi:"replaces"`
	// The billing mode.
	BillingMode *BillingMode `lumi:"optional"`
	// The provisioned capacity, if the billing mode is PROVISIONED.
	Throughput *Throughput `lumi:"optional"`
	// The global secondary indexes, by name.
	GlobalSecondaryIndexes *map[string]GlobalSecondaryIndex `lumi:"optional"`
	// The local secondary indexes, by name. They share the table's partition key.
	LocalSecondaryIndexes *map[string]Index `lumi:"optional,replaces"`
	// The contents of the change stream. By default, there is no stream.
	StreamViewType *StreamViewType `lumi:"optional"`
	// The attribute with the expiration time of a record.
	TimeToLiveAttribute *string `lumi:"optional"`
	// Whether point-in-time recovery is enabled.
	PointInTimeRecovery *bool `lumi:"optional"`
	// The ARN of the table.
	ARN aws.ARN `lumi:"out,fixed"`
	// The ARN of the change stream, if enabled.
	StreamARN *aws.ARN `lumi:"out,optional"`
}

// KeySchema names the attributes of a key.
type KeySchema struct {
	// The partition key.
	Hash string
	// The sort key.
	Range *string `lumi:"optional"`
}

// An Index is a copy of some attributes of all records, under another key.
type Index struct {
	// The key of the index.
	Key KeySchema
	// The attributes copied in addition to the key attributes.
	Projection Projection
}

// A GlobalSecondaryIndex is an Index with its own capacity.
type GlobalSecondaryIndex struct {
	Index
	// The provisioned capacity, if the billing mode is PROVISIONED.
	Throughput *Throughput `lumi:"optional"`
}

// A Projection selects the attributes in an Index.
type Projection struct {
	// Whether all, some or only the key attributes are included.
	ProjectionType ProjectionType
	// The included attributes, if the type is INCLUDE.
	NonKeyAttributes *[]string `lumi:"optional"`
}

// Throughput is the capacity of a table or index.
type Throughput struct {
	// Reads of 4 KiB per second.
	ReadCapacityUnits int
	// Writes of 1 KiB per second.
	WriteCapacityUnits int
}

// AttributeType is the type of a key attribute.
type AttributeType string

// The attribute types.
const (
	// A string, ordered by its UTF-8 bytes.
	AttributeTypeString AttributeType = "S"
	// A number.
	AttributeTypeNumber AttributeType = "N"
	// Binary data.
	AttributeTypeBinary AttributeType = "B"
)

// BillingMode determines how a table is billed.
type BillingMode string

// The billing modes.
const (
	// Billed by provisioned capacity.
	BillingModeProvisioned BillingMode = "PROVISIONED"
	// Billed by request.
	BillingModePayPerRequest BillingMode = "PAY_PER_REQUEST"
)

// ProjectionType selects attributes.
type ProjectionType string

// The projection types.
const (
	// Only the key attributes.
	ProjectionTypeKeysOnly ProjectionType = "KEYS_ONLY"
	// The key attributes and the listed ones.
	ProjectionTypeInclude ProjectionType = "INCLUDE"
	// All attributes.
	ProjectionTypeAll ProjectionType = "ALL"
)

// StreamViewType determines the contents of a change stream.
type StreamViewType string

// The contents of a change stream.
const (
	// The keys of the record.
	StreamViewTypeKeysOnly StreamViewType = "KEYS_ONLY"
	// The record after the change.
	StreamViewTypeNewImage StreamViewType = "NEW_IMAGE"
	// The record before the change.
	StreamViewTypeOldImage StreamViewType = "OLD_IMAGE"
	// The record before and after the change.
	StreamViewTypeNewAndOldImages StreamViewType = "NEW_AND_OLD_IMAGES"
)
