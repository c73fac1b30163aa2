package s3

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/url"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager"
	transfer "github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	aws "github.com/lumi-idl/lumi/examples/aws/provider"
	"github.com/lumi-idl/lumi/examples/aws/provider/internal/cloud"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/content"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// bucketObjectProviderOpsImpl implements objects. Their ids have the form BUCKET/KEY.
type bucketObjectProviderOpsImpl struct{ *account }

// Limits and defaults of S3, and the length of generated keys.
const (
	maxKey             = 1024
	generated          = 16 // characters in a generated key, after the prefix
	maxObjectTags      = 10
	defaultContentType = "binary/octet-stream"
)

// Check implements [BucketObjectProviderOps]. It fills in the AWS defaults and generates a missing key.
func (ops *bucketObjectProviderOpsImpl) Check(_ context.Context, want *lumi.State[*bucketObject]) error {
	o, unknown := want.Properties, want.Unknown
	key := want.Seed.Name("object-", generated, lumi.LowerAlphanumeric)
	if want.Old != nil && want.Old.Key != nil {
		key = *want.Old.Key
	}
	cloud.FillIn(unknown, BucketObject_Key, &o.Key, key)
	cloud.FillIn(unknown, BucketObject_ContentType, &o.ContentType, defaultContentType)
	cloud.FillIn(unknown, BucketObject_StorageClass, &o.StorageClass, StorageClassStandard)
	faults := []error{cloud.CheckPlainTags(BucketObject_Tags, o.Tags, unknown)}
	if n := len(ops.Tags(want.URN, o.Tags)); n > maxObjectTags {
		faults = append(faults, lumi.Faultf(BucketObject_Tags, "has %d tags, including those from the configuration and one that this provider"+
			" needs: AWS allows %d on an object", n, maxObjectTags))
	}
	if n := len(sdk.ToString(o.Key)); !unknown.Has(BucketObject_Key) && (n == 0 || n > maxKey) {
		faults = append(faults, lumi.Faultf(BucketObject_Key, "must be 1 to %d bytes, got %d", maxKey, n))
	}
	if o.StorageClass != nil && *o.StorageClass != StorageClassStandard {
		faults = append(faults, lumi.Faultf(BucketObject_StorageClass, "%q is not supported by this provider: must be %q",
			*o.StorageClass, StorageClassStandard))
	}
	return errors.Join(faults...)
}

// Name implements [BucketObjectProviderOps].
func (ops *bucketObjectProviderOpsImpl) Name(_ context.Context, want *lumi.State[*bucketObject]) (string, error) {
	o := want.Properties
	for _, path := range []lumi.Path{BucketObject_Bucket, BucketObject_Key} {
		if want.Unknown.Has(path) || path == BucketObject_Key && o.Key == nil {
			return "", lumi.Faultf(path, "must be known, because it is part of the resource's name")
		}
	}
	parts, err := o.Bucket.Parts()
	if err != nil {
		return "", err
	}
	return parts.Name + "/" + *o.Key, nil
}

// IdempotentCreate implements [lumi.IdempotentCreator].
func (ops *bucketObjectProviderOpsImpl) IdempotentCreate() bool { return true }

// Create implements [BucketObjectProviderOps]. It overwrites an existing object only if an earlier attempt created it.
func (ops *bucketObjectProviderOpsImpl) Create(ctx context.Context, want *lumi.State[*bucketObject]) (lumi.ID, error) {
	o := want.Properties
	resource, ok := want.Refs.Resolve(o.Bucket)
	switch {
	case !ok:
		return "", lumi.Faultf(BucketObject_Bucket, "%s does not exist", o.Bucket)
	case o.Key == nil:
		return "", lumi.Faultf(BucketObject_Key, "is required, but missing: Check fills it in")
	}
	bucket := string(resource.ID)
	id := lumi.ID(bucket + "/" + *o.Key)
	mark := map[string]string{attempt: cloud.Attempt(want.URN, want.Token)}
	err := ops.put(ctx, bucket, want, mark, sdk.String("*"))
	if cloud.Is(err, "PreconditionFailed", "ConditionalRequestConflict") {
		head, headErr := ops.api().HeadObject(ctx, &s3.HeadObjectInput{Bucket: &bucket, Key: o.Key})
		switch {
		case headErr != nil:
			return "", lumi.Uncertain(cloud.Error(headErr)) // an earlier attempt may have created the object
		case head.Metadata[attempt] != mark[attempt]:
			return "", lumi.Faultf(BucketObject_Key, "object %s already exists and was not created by this resource", id)
		}
		err = ops.put(ctx, bucket, want, mark, nil)
	}
	if err != nil {
		return "", cloud.FaultAt(err, BucketObject_Bucket, "NoSuchBucket")
	}
	return id, nil
}

// attempt is the metadata key that replaces [cloud.AttemptTag], since objects allow few tags.
const attempt = "lumi-create"

// put uploads an object, in several parts if it is large, and sets its outputs. If ifNoneMatch is "*", the request fails if
// the object exists.
func (ops *bucketObjectProviderOpsImpl) put(
	ctx context.Context, bucket string, want *lumi.State[*bucketObject], metadata map[string]string, ifNoneMatch *string,
) error {
	o := want.Properties
	opened, err := content.Open(ctx, o.Source)
	if err != nil {
		return sourceFault(ctx, err)
	}
	defer func() { _ = opened.Close() }() // read-only, so the error can be ignored
	body := &source{Reader: opened}
	class := StorageClassStandard
	if o.StorageClass != nil {
		class = *o.StorageClass
	}
	tags := url.Values{}
	for key, value := range ops.Tags(want.URN, o.Tags) {
		tags.Set(key, value)
	}
	out, err := transfermanager.New(ops.api()).UploadObject(ctx, &transfermanager.UploadObjectInput{
		Bucket: &bucket, Key: o.Key, Body: body, ContentType: o.ContentType, Tagging: sdk.String(tags.Encode()),
		Metadata: metadata, IfNoneMatch: ifNoneMatch, StorageClass: transfer.StorageClass(class),
	})
	switch {
	case body.err != nil:
		return sourceFault(ctx, body.err)
	case err != nil:
		return err
	}
	o.ETag, o.VersionID = unquote(out.ETag), out.VersionID
	return nil
}

// source records errors from reading the content, to distinguish them from errors of the SDK.
type source struct {
	io.Reader
	err error
}

func (s *source) Read(data []byte) (int, error) {
	n, err := s.Reader.Read(data)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// sourceFault returns a fault for an error from reading the content, or err if the call was canceled.
func sourceFault(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	return lumi.Faultf(BucketObject_Source, "%v", err)
}

func unquote(tag *string) string { return strings.Trim(sdk.ToString(tag), `"`) }

// Get implements [BucketObjectProviderOps]. It omits the content.
func (ops *bucketObjectProviderOpsImpl) Get(ctx context.Context, id lumi.ID, _ *lumi.State[*bucketObject]) (*bucketObject, error) {
	bucket, key, ok := strings.Cut(string(id), "/")
	if !ok || bucket == "" || key == "" {
		return nil, lumi.ErrNotFound
	}
	head, err := ops.api().HeadObject(ctx, &s3.HeadObjectInput{Bucket: &bucket, Key: &key})
	if err != nil {
		return nil, cloud.Error(err)
	}
	tags, err := ops.objectTags(ctx, bucket, key)
	if err != nil {
		return nil, cloud.Error(err)
	}
	class := StorageClassStandard
	if head.StorageClass != "" {
		class = StorageClass(head.StorageClass)
	}
	return &bucketObject{
		Bucket: urn.ByID(Bucket, bucket), Key: &key, Tags: ops.OwnTags(tags), ContentType: head.ContentType,
		StorageClass: &class, ETag: unquote(head.ETag), VersionID: head.VersionId,
	}, nil
}

func (ops *bucketObjectProviderOpsImpl) objectTags(ctx context.Context, bucket, key string) (aws.Tags, error) {
	out, err := ops.api().GetObjectTagging(ctx, &s3.GetObjectTaggingInput{Bucket: &bucket, Key: &key})
	if err != nil {
		return nil, err
	}
	return tagMap(out.TagSet), nil
}

// Update implements [BucketObjectProviderOps]. It does not create a new version if only the tags have changed.
func (ops *bucketObjectProviderOpsImpl) Update(
	ctx context.Context, old, want *lumi.State[*bucketObject], diff *lumi.Diff,
) error {
	o := want.Properties
	bucket, _, _ := strings.Cut(string(old.ID), "/")
	if diff.Changed(BucketObject_Source) || diff.Changed(BucketObject_ContentType) || diff.Changed(BucketObject_StorageClass) {
		return cloud.Error(ops.put(ctx, bucket, want, nil, nil))
	}
	if maps.Equal(old.Properties.Tags, o.Tags) {
		return nil
	}
	_, err := ops.api().PutObjectTagging(ctx, &s3.PutObjectTaggingInput{
		Bucket: &bucket, Key: o.Key, Tagging: &types.Tagging{TagSet: tagList(ops.Tags(want.URN, o.Tags))},
	})
	return cloud.Error(err)
}

// Delete implements [BucketObjectProviderOps]. If the bucket is versioned, old versions of the object remain.
func (ops *bucketObjectProviderOpsImpl) Delete(ctx context.Context, old *lumi.State[*bucketObject]) error {
	bucket, key, _ := strings.Cut(string(old.ID), "/")
	_, err := ops.api().DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &bucket, Key: &key})
	return cloud.Error(err)
}
