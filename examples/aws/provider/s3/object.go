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
)

// objectProviderOpsImpl implements objects. The id of one is its bucket's name, a slash, and its key.
type objectProviderOpsImpl struct{ *account }

// What Amazon accepts, and what it takes an object for whose type nobody named.
const (
	maxKey             = 1024
	maxObjectTags      = 10
	defaultContentType = "binary/octet-stream"
)

// Check implements [ObjectProviderOps]. It fills in what Amazon takes where nothing is said.
func (ops *objectProviderOpsImpl) Check(_ context.Context, want *lumi.State[*object]) error {
	o, unknown := want.Properties, want.Unknown
	cloud.FillIn(unknown, Object_ContentType, &o.ContentType, defaultContentType)
	cloud.FillIn(unknown, Object_StorageClass, &o.StorageClass, StorageClassStandard)
	faults := []error{cloud.CheckPlainTags(Object_Tags, o.Tags, unknown)}
	if n := len(ops.Tags(want.URN, o.Tags)); n > maxObjectTags {
		faults = append(faults, lumi.Faultf(Object_Tags, "an object takes %d tags; with those of the configuration and the"+
			" one that this provider needs, there are %d", maxObjectTags, n))
	}
	if !unknown.Has(Object_Key) && (o.Key == "" || len(o.Key) > maxKey) {
		faults = append(faults, lumi.Faultf(Object_Key, "takes 1 to %d bytes, not %d", maxKey, len(o.Key)))
	}
	if o.StorageClass != nil && *o.StorageClass != StorageClassStandard {
		faults = append(faults, lumi.Faultf(Object_StorageClass, "%q is not supported by this provider: write %q",
			*o.StorageClass, StorageClassStandard))
	}
	return errors.Join(faults...)
}

// Name implements [ObjectProviderOps].
func (ops *objectProviderOpsImpl) Name(_ context.Context, want *lumi.State[*object]) (string, error) {
	for _, path := range []lumi.Path{Object_Bucket, Object_Key} {
		if want.Unknown.Has(path) {
			return "", lumi.Faultf(path, "must be known, since it becomes a part of the resource's name")
		}
	}
	parts, err := want.Properties.Bucket.Parts()
	if err != nil {
		return "", err
	}
	return parts.Name + "/" + want.Properties.Key, nil
}

// Create implements [ObjectProviderOps]. It writes over no object but one that an earlier attempt made.
func (ops *objectProviderOpsImpl) Create(ctx context.Context, want *lumi.State[*object]) (lumi.ID, error) {
	o := want.Properties
	resource, ok := want.Refs.Resolve(o.Bucket)
	if !ok {
		return "", lumi.Faultf(Object_Bucket, "%s does not exist", o.Bucket)
	}
	bucket := string(resource.ID)
	id := lumi.ID(bucket + "/" + o.Key)
	tags := ops.Tags(want.URN, o.Tags)
	err := ops.put(ctx, bucket, want, sdk.String("*"))
	if cloud.Is(err, "PreconditionFailed", "ConditionalRequestConflict") {
		has, tagErr := ops.objectTags(ctx, bucket, o.Key)
		switch {
		case tagErr != nil:
			return "", cloud.Error(tagErr)
		case has[cloud.MarkTag] != tags[cloud.MarkTag]:
			return "", lumi.Faultf(Object_Key, "there is an object %s already, which is not this resource's", id)
		}
		err = ops.put(ctx, bucket, want, nil)
	}
	if err != nil {
		return "", cloud.FaultAt(err, Object_Bucket, "NoSuchBucket")
	}
	return id, nil
}

// put writes an object, a part at a time if it is large, and sets what follows from that. IfNoneMatch is "*" for an
// object that must be new.
func (ops *objectProviderOpsImpl) put(
	ctx context.Context, bucket string, want *lumi.State[*object], ifNoneMatch *string,
) error {
	o := want.Properties
	opened, err := content.Open(ctx, o.Source)
	if err != nil {
		return sourceFault(ctx, err)
	}
	defer func() { _ = opened.Close() }() // What was only read loses nothing.
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
		Bucket: &bucket, Key: &o.Key, Body: body, ContentType: o.ContentType, Tagging: sdk.String(tags.Encode()),
		IfNoneMatch: ifNoneMatch, StorageClass: transfer.StorageClass(class),
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

// source keeps the error of reading an object's content, lest it be taken for one of Amazon's.
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

// sourceFault blames the property for content that cannot be read, unless nobody waits for that any more.
func sourceFault(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	return lumi.Faultf(Object_Source, "%v", err)
}

func unquote(tag *string) string { return strings.Trim(sdk.ToString(tag), `"`) }

// Get implements [ObjectProviderOps]. It leaves out what is in the object, and the bucket where no program of Lumi made
// that.
func (ops *objectProviderOpsImpl) Get(ctx context.Context, id lumi.ID) (*object, error) {
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
	o := &object{
		Key: key, Tags: ops.OwnTags(tags), ContentType: head.ContentType, StorageClass: &class,
		ETag: unquote(head.ETag), VersionID: head.VersionId,
	}
	of, err := ops.bucketTags(ctx, bucket)
	if err != nil {
		return nil, cloud.Error(err)
	}
	if u, ok := cloud.Marked(of); ok {
		o.Bucket = u
	}
	return o, nil
}

func (ops *objectProviderOpsImpl) objectTags(ctx context.Context, bucket, key string) (aws.Tags, error) {
	out, err := ops.api().GetObjectTagging(ctx, &s3.GetObjectTaggingInput{Bucket: &bucket, Key: &key})
	if err != nil {
		return nil, err
	}
	return tagMap(out.TagSet), nil
}

// InspectChange implements [ObjectProviderOps]. What the IDL says about replacements is all there is to say.
func (ops *objectProviderOpsImpl) InspectChange(_ context.Context, _, _ *lumi.State[*object], _ *lumi.Diff) error {
	return nil
}

// Update implements [ObjectProviderOps]. New tags alone do not make a new version.
func (ops *objectProviderOpsImpl) Update(
	ctx context.Context, old, want *lumi.State[*object], diff *lumi.Diff,
) error {
	o := want.Properties
	bucket, _, _ := strings.Cut(string(old.ID), "/")
	if diff.Changed(Object_Source) || diff.Changed(Object_ContentType) || diff.Changed(Object_StorageClass) {
		return cloud.Error(ops.put(ctx, bucket, want, nil))
	}
	if maps.Equal(old.Properties.Tags, o.Tags) {
		return nil
	}
	_, err := ops.api().PutObjectTagging(ctx, &s3.PutObjectTaggingInput{
		Bucket: &bucket, Key: &o.Key, Tagging: &types.Tagging{TagSet: tagList(ops.Tags(want.URN, o.Tags))},
	})
	return cloud.Error(err)
}

// Delete implements [ObjectProviderOps]. Former versions stay, where the bucket keeps them.
func (ops *objectProviderOpsImpl) Delete(ctx context.Context, old *lumi.State[*object]) error {
	bucket, key, _ := strings.Cut(string(old.ID), "/")
	_, err := ops.api().DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &bucket, Key: &key})
	return cloud.Error(err)
}
