package apigateway

import (
	"github.com/lumi-idl/lumi/examples/aws/idl/lambda"
	"github.com/lumi-idl/lumi/idl"
)

// child is what everything that belongs to a RestAPI begins with.
type child struct {
	idl.Resource
	// The interface that this belongs to.
	RestAPI *RestAPI `lumi:"replaces"`
}

// A Resource is one segment of a path, with the methods that can be called there.
type Resource struct {
	child
	// The resource that the path up to here leads to (or blank for the root).
	Parent *Resource `lumi:"optional,replaces"`
	// The segment, such as `pets`, or `{id}` where any text may stand.
	PathPart string `lumi:"replaces"`
	// What can be done here, and who does it.
	Methods *map[HTTPMethod]Method `lumi:"optional"`
	// The whole path.
	Path string `lumi:"out"`
}

// HTTPMethod is a verb of HTTP.
type HTTPMethod string

// The verbs of HTTP.
const (
	HTTPMethodGet     HTTPMethod = "GET"
	HTTPMethodHead    HTTPMethod = "HEAD"
	HTTPMethodPost    HTTPMethod = "POST"
	HTTPMethodPut     HTTPMethod = "PUT"
	HTTPMethodPatch   HTTPMethod = "PATCH"
	HTTPMethodDelete  HTTPMethod = "DELETE"
	HTTPMethodOptions HTTPMethod = "OPTIONS"
	// Whatever has no method of its own.
	HTTPMethodAny HTTPMethod = "ANY"
)

// A Method says how to answer one kind of request.
type Method struct {
	// Who may send such requests, such as `NONE` or `AWS_IAM`.
	AuthorizationType string
	// Whether a request needs to carry a key.
	APIKeyRequired *bool `lumi:"optional"`
	// The function that answers.
	Function *lambda.Function `lumi:"optional,exactlyOneOf=uri"`
	// The address of a server that answers.
	URI *string `lumi:"optional,exactlyOneOf=function,format=uri"`
	// The models that bodies of requests have to fit, by media type.
	RequestModels *map[string]*Model `lumi:"optional"`
}
