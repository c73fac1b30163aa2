package lambda

import (
	aws "github.com/lumi-idl/lumi/examples/aws/idl"
	"github.com/lumi-idl/lumi/idl"
)

// A Permission lets another service or account call a Function.
type Permission struct {
	idl.Resource
	// The function that may be called.
	Function *Function `lumi:"replaces"`
	// What is allowed, such as `lambda:InvokeFunction`.
	Action string `lumi:"replaces,pattern='^(\\*|lambda:(\\*|[A-Za-z]+))$'"`
	// Who is allowed to: a service such as `s3.amazonaws.com`, or an account.
	Principal string `lumi:"replaces"`
	// The account that the caller needs to belong to.
	SourceAccount *string `lumi:"optional,replaces,pattern='^\\d{12}$'"`
	// The one thing that may call, where the caller is a service: a bucket, a topic, an interface.
	SourceARN *aws.ARN `lumi:"optional,replaces"`
}
