package apigateway

import (
	aws "github.com/lumi-idl/lumi/examples/aws/idl"
	"github.com/lumi-idl/lumi/idl"
)

// A RestAPI is an interface over HTTP: a tree of resources with methods.
type RestAPI struct {
	idl.NamedResource
	aws.Tagged
	// What the interface is for, in words.
	Description *string `lumi:"optional"`
	// The media types that are passed on byte by byte.
	BinaryMediaTypes *[]string `lumi:"optional"`
	// The size in bytes from which on answers are compressed.
	MinimumCompressionSize *float64 `lumi:"optional"`
	// Whether the interface cannot be reached under Amazon's host name.
	DisableExecuteAPIEndpoint *bool `lumi:"optional"`
	// The root of the tree of resources.
	RootResource *Resource `lumi:"out"`
}

// APIs is a list of interfaces.
type APIs []*RestAPI
