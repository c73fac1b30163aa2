package s3

import (
	"github.com/lumi-idl/lumi/examples/aws/idl/iam"
	"github.com/lumi-idl/lumi/idl"
)

// A BucketPolicy says who may do what with a Bucket and the objects in it. A bucket has at most one.
type BucketPolicy struct {
	idl.Resource
	// The bucket that the policy is for.
	Bucket *Bucket `lumi:"replaces"`
	// What the policy allows and denies. Its statements name principals.
	PolicyDocument iam.PolicyDocument
}
