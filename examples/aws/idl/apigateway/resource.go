package apigateway

import (
	"github.com/lumi-idl/lumi/examples/aws/idl/lambda"
	"github.com/lumi-idl/lumi/idl"
)

// child is embedded by resources that belong to a RestAPI.
type child struct {
	idl.Resource
	// The API that the resource belongs to.
	RestAPI *RestAPI `lumi:"replaces"`
}

// A Resource is a path segment of an API, with its methods.
type Resource struct {
	child
	// The parent resource. The default is the API's root.
	Parent *Resource `lumi:"optional,replaces"`
	// The segment, such as `pets`, or `{id}` for a parameter.
	PathPart string `lumi:"replaces"`
	// The methods, by HTTP method.
	Methods *map[HTTPMethod]Method `lumi:"optional"`
	// The full path.
	Path string `lumi:"out,fixed"`
}

// HTTPMethod is an HTTP method.
type HTTPMethod string

// The HTTP methods.
const (
	HTTPMethodGet     HTTPMethod = "GET"
	HTTPMethodHead    HTTPMethod = "HEAD"
	HTTPMethodPost    HTTPMethod = "POST"
	HTTPMethodPut     HTTPMethod = "PUT"
	HTTPMethodPatch   HTTPMethod = "PATCH"
	HTTPMethodDelete  HTTPMethod = "DELETE"
	HTTPMethodOptions HTTPMethod = "OPTIONS"
	// Matches methods that are not listed.
	HTTPMethodAny HTTPMethod = "ANY"
)

// A Method configures how one kind of request is handled.
type Method struct {
	// The authorization type, such as `NONE` or `AWS_IAM`.
	AuthorizationType string
	// Whether requests need an API key.
	APIKeyRequired *bool `lumi:"optional"`
	// The function that handles the request.
	Function *lambda.Function `lumi:"optional,exactlyOneOf=uri"`
	// The URL of the server that handles the request.
	URI *string `lumi:"optional,exactlyOneOf=function,format=uri"`
	// The models of request bodies, by media type.
	RequestModels *map[string]*Model `lumi:"optional"`
}
