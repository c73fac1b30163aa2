package apigateway

import (
	"github.com/lumi-idl/lumi/idl"
)

// A Model describes what bodies of requests or answers look like.
type Model struct {
	idl.NamedResource
	// The interface that the model belongs to.
	RestAPI *RestAPI `lumi:"replaces"`
	// The media type of what it describes, such as `application/json`.
	ContentType *string `lumi:"optional,replaces"`
	// What the model is for, in words.
	Description *string `lumi:"optional"`
	// What a body looks like.
	Schema Schema
}

// A Schema describes a JSON value, as JSON Schema does.
type Schema struct {
	// The kind of value.
	Type *SchemaType `lumi:"optional"`
	// What the value means, in words.
	Description *string `lumi:"optional"`
	// The only values that are allowed.
	Enum *[]any `lumi:"optional"`
	// What is assumed where there is no value.
	Default any `lumi:"optional"`
	// What the elements of an array look like.
	Items *Schema `lumi:"optional"`
	// What the properties of an object look like.
	Properties *map[string]Schema `lumi:"optional"`
	// The properties that an object must have.
	Required *[]string `lumi:"optional"`
	// Schemas of which the value has to fit exactly one.
	OneOf *[]*Schema `lumi:"optional"`
}

// SchemaType is a kind of JSON value.
type SchemaType string

// The kinds of JSON values.
const (
	SchemaTypeArray   SchemaType = "array"
	SchemaTypeBoolean SchemaType = "boolean"
	SchemaTypeNull    SchemaType = "null"
	SchemaTypeNumber  SchemaType = "number"
	SchemaTypeObject  SchemaType = "object"
	SchemaTypeString  SchemaType = "string"
)
