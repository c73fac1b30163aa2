package s3

import (
	"context"
	"fmt"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/lumi-idl/lumi/examples/aws/provider/internal/cloud"
	lumi "github.com/lumi-idl/lumi/runtime"
)

// Delete implements [BucketProviderOps]. It deletes the contents first if forceDestroy is true; otherwise, it fails unless
// the bucket is empty.
func (ops *bucketProviderOpsImpl) Delete(ctx context.Context, old *lumi.State[*bucket]) error {
	name, force := string(old.ID), sdk.ToBool(old.Properties.ForceDestroy)
	if force {
		if err := cloud.Error(ops.empty(ctx, name)); err != nil {
			return fmt.Errorf("emptying bucket %s: %w", name, err)
		}
	}
	_, err := ops.api().DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: &name})
	switch {
	case cloud.Is(err, "BucketNotEmpty") && force:
		return fmt.Errorf("objects were added to bucket %s while it was being emptied: stop the writers and delete it again", name)
	case cloud.Is(err, "BucketNotEmpty"):
		return fmt.Errorf("bucket %s is not empty: delete its contents, including old versions and delete markers,"+
			" or set %s to true and deploy before you delete the bucket", name, Bucket_ForceDestroy)
	}
	return cloud.Error(err)
}

// empty deletes the contents of a bucket, including old versions and incomplete uploads. It returns errors as reported by
// the SDK.
func (ops *bucketProviderOpsImpl) empty(ctx context.Context, name string) error {
	// Always list the first page, since some servers cannot continue after a deleted version.
	for previous, deleted := "", 0; ; {
		page, err := ops.api().ListObjectVersions(ctx, &s3.ListObjectVersionsInput{Bucket: &name})
		if err != nil {
			return err
		}
		objects := identify(page)
		if len(objects) == 0 {
			break
		}
		first := versionText(objects[0].Key, objects[0].VersionId)
		if first == previous {
			return fmt.Errorf("%s still exists after it was deleted", first)
		}
		previous = first
		if err := ops.deleteVersions(ctx, name, objects); err != nil {
			return err
		}
		deleted += len(objects)
		lumi.Progress(ctx, "emptying bucket %s: %d versions deleted", name, deleted)
	}
	uploads := s3.NewListMultipartUploadsPaginator(ops.api(), &s3.ListMultipartUploadsInput{Bucket: &name})
	for uploads.HasMorePages() {
		page, err := uploads.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, upload := range page.Uploads {
			_, err := ops.api().AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{
				Bucket: &name, Key: upload.Key, UploadId: upload.UploadId,
			})
			if err != nil && !cloud.Is(err, "NoSuchUpload") {
				return err
			}
		}
	}
	return nil
}

// identify returns the versions and delete markers on a page. A single request can delete all of them.
func identify(page *s3.ListObjectVersionsOutput) []types.ObjectIdentifier {
	var all []types.ObjectIdentifier
	for _, v := range page.Versions {
		all = append(all, types.ObjectIdentifier{Key: v.Key, VersionId: v.VersionId})
	}
	for _, m := range page.DeleteMarkers {
		all = append(all, types.ObjectIdentifier{Key: m.Key, VersionId: m.VersionId})
	}
	return all
}

// deleteVersions deletes the given versions. If some cannot be deleted, the error names the first of them.
func (ops *bucketProviderOpsImpl) deleteVersions(
	ctx context.Context, name string, objects []types.ObjectIdentifier,
) error {
	out, err := ops.api().DeleteObjects(ctx, &s3.DeleteObjectsInput{
		Bucket: &name, Delete: &types.Delete{Objects: objects, Quiet: new(true)},
	})
	if err != nil || len(out.Errors) == 0 {
		return err
	}
	first, more := out.Errors[0], ""
	if n := len(out.Errors) - 1; n > 0 {
		more = fmt.Sprintf(" (and %d more)", n)
	}
	return fmt.Errorf("%s: %s: %s%s", versionText(first.Key, first.VersionId), sdk.ToString(first.Code),
		strings.TrimSuffix(sdk.ToString(first.Message), "."), more)
}

func versionText(key, version *string) string {
	return fmt.Sprintf("%q, version %s", sdk.ToString(key), sdk.ToString(version))
}
