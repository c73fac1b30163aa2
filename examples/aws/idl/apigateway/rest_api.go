package apigateway

import (
	aws "github.com/lumi-idl/lumi/examples/aws/idl"
	"github.com/lumi-idl/lumi/idl"
)

// A RestAPI is an HTTP API: a tree of resources with methods.
type RestAPI struct {
	idl.NamedResource
	aws.Tagged
	// A description of the API.
	Description *string `lumi:"optional"`
	// The media types that are passed on as binary data.
	BinaryMediaTypes *[]string `lumi:"optional"`
	// The minimum size in bytes of compressed responses.
	MinimumCompressionSize *int `lumi:"optional"`
	// Whether the API is unreachable at Amazon's default host name.
	DisableExecuteAPIEndpoint *bool `lumi:"optional"`
	// The root resource.
	RootResource *Resource `lumi:"out,fixed"`
}

// APIs is a list of APIs.
type APIs []*RestAPI
