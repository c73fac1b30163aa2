package s3

import (
	aws "github.com/lumi-idl/lumi/examples/aws/idl"
	"github.com/lumi-idl/lumi/idl"
)

// A BucketObject is a file in a Bucket.
//
//lumi:was=Object
type BucketObject struct {
	idl.Resource
	aws.Tagged
	// The bucket of the object.
	Bucket *Bucket `lumi:"replaces"`
	// The key of the object. Slashes have no special meaning. By default, the provider generates one.
	Key *string `lumi:"optional,replaces"`
	// The contents of the object.
	Source *idl.Asset
	// The media type, such as `text/html`.
	ContentType *string `lumi:"optional"`
	// The storage class.
	StorageClass *StorageClass `lumi:"optional"`
	// A hash of the contents.
	ETag string `lumi:"out"`
	// The latest version, if the bucket's versioning is enabled.
	VersionID *string `lumi:"out,optional"`
}
