package apigateway

import (
	"github.com/lumi-idl/lumi/idl"
)

// A Model describes the body of a request or response.
type Model struct {
	idl.NamedResource `lumi:"pattern='^[A-Za-z0-9]+$',says='letters and digits',nameScope=restAPI"`
	// The API that the model belongs to.
	RestAPI *RestAPI `lumi:"replaces"`
	// The media type of the body, such as `application/json`.
	ContentType *string `lumi:"optional,replaces"`
	// A description of the model.
	Description *string `lumi:"optional"`
	// The schema of the body.
	Schema Schema
}

// A Schema describes a JSON value, as in JSON Schema.
type Schema struct {
	// The type of the value.
	Type *SchemaType `lumi:"optional"`
	// A description of the value.
	Description *string `lumi:"optional"`
	// The allowed values. By default, all are allowed.
	Enum *[]any `lumi:"optional"`
	// The default value.
	Default any `lumi:"optional"`
	// The schema of an array's elements.
	Items *Schema `lumi:"optional"`
	// The schemas of an object's properties, by name.
	Properties *map[string]Schema `lumi:"optional"`
	// The required properties of an object.
	Required *[]string `lumi:"optional"`
	// Schemas of which the value must match exactly one.
	OneOf *[]*Schema `lumi:"optional"`
}

// SchemaType is a JSON type.
type SchemaType string

// The JSON types.
const (
	SchemaTypeArray   SchemaType = "array"
	SchemaTypeBoolean SchemaType = "boolean"
	SchemaTypeNull    SchemaType = "null"
	SchemaTypeNumber  SchemaType = "number"
	SchemaTypeObject  SchemaType = "object"
	SchemaTypeString  SchemaType = "string"
)
