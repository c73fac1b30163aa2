package s3

import (
	aws "github.com/lumi-idl/lumi/examples/aws/idl"
	"github.com/lumi-idl/lumi/idl"
)

// An Object is a file in a Bucket.
type Object struct {
	idl.Resource
	aws.Tagged
	// The bucket that holds the object.
	Bucket *Bucket `lumi:"replaces"`
	// The name of the object within its bucket. Slashes in it have no special meaning. The provider generates a name if
	// none is given.
	Key *string `lumi:"optional,replaces"`
	// What is in the object.
	Source *idl.Asset
	// What browsers and others take the object for, such as `text/html`.
	ContentType *string `lumi:"optional"`
	// The kind of storage that keeps the object.
	StorageClass *StorageClass `lumi:"optional"`
	// A fingerprint of what is in the object.
	ETag string `lumi:"out"`
	// The version that was written last, in a bucket that keeps versions.
	VersionID *string `lumi:"out,optional"`
}
