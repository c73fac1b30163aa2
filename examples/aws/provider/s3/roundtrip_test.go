package s3

import (
	"testing"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/test/kit/roundtrip"
)

func TestRoundTrip(t *testing.T) {
	roundtrip.Test(t, "../../idl", "s3", map[tokens.Type]func() lumi.Object{
		BucketPolicy: func() lumi.Object { return new(bucketPolicy) },
		Bucket:       func() lumi.Object { return new(bucket) },
		BucketObject: func() lumi.Object { return new(bucketObject) },
	})
}
