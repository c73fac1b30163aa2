package lambda

import (
	aws "github.com/lumi-idl/lumi/examples/aws/idl"
	"github.com/lumi-idl/lumi/idl"
)

// A Permission lets another service or account call a Function.
type Permission struct {
	idl.Resource
	// The function.
	Function *Function `lumi:"replaces"`
	// The action, such as `lambda:InvokeFunction`.
	Action string `lumi:"replaces,pattern='^(\\*|lambda:(\\*|[A-Za-z]+))$'"`
	// The caller: a service such as `s3.amazonaws.com`, or an account.
	Principal string `lumi:"replaces"`
	// The account that the caller must belong to.
	SourceAccount *string `lumi:"optional,replaces,pattern='^\\d{12}$',says='an account number of 12 digits'"`
	// The resource that may call, if the caller is a service: a bucket, a topic or an API.
	SourceARN *aws.ARN `lumi:"optional,replaces"`
}
