package s3

import (
	"github.com/lumi-idl/lumi/examples/aws/idl/iam"
	"github.com/lumi-idl/lumi/idl"
)

// A BucketPolicy controls access to a Bucket and its objects. Each bucket has at most one.
type BucketPolicy struct {
	idl.Resource
	// The bucket.
	Bucket *Bucket `lumi:"replaces"`
	// The policy document. Its statements name principals.
	PolicyDocument iam.PolicyDocument
}
