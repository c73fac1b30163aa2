package s3

import (
	"context"
	"errors"

	"net"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	aws "github.com/lumi-idl/lumi/examples/aws/provider"
	"github.com/lumi-idl/lumi/examples/aws/provider/internal/cloud"
	lumi "github.com/lumi-idl/lumi/runtime"
)

// bucketProviderOpsImpl implements buckets. The code for settings is in bucket_settings.go.
type bucketProviderOpsImpl struct{ *account }

// Check implements [BucketProviderOps].
func (ops *bucketProviderOpsImpl) Check(_ context.Context, want *lumi.State[*bucket]) error {
	b, unknown := want.Properties, want.Unknown
	cloud.FillIn(unknown, Bucket_AccessControl, &b.AccessControl, CannedACLPrivate)
	faults := []error{
		cloud.CheckPlainTags(Bucket_Tags, b.Tags, unknown),
		cloud.Unsupported(Bucket_LifecycleRules, b.LifecycleRules != nil || unknown.Has(Bucket_LifecycleRules)),
		cloud.Unsupported(Bucket_Logging, b.Logging != nil || unknown.Has(Bucket_Logging)),
		cloud.Unsupported(Bucket_Notifications, b.Notifications != nil || unknown.Has(Bucket_Notifications)),
		checkAccess(b.AccessControl),
		checkCORS(b.CORSRules, unknown),
	}
	if !unknown.Has(Bucket_Name) {
		faults = append(faults, checkName(b.Name))
	}
	return errors.Join(faults...)
}

// checkName checks what the pattern of the IDL cannot express.
func checkName(name string) error {
	if strings.Contains(name, "..") || net.ParseIP(name) != nil {
		return lumi.Faultf(Bucket_Name, "must not have two periods in a row or be an IP address, found %q", name)
	}
	return nil
}

// IdempotentCreate implements [lumi.IdempotentCreator].
func (ops *bucketProviderOpsImpl) IdempotentCreate() bool { return true }

// Create implements [BucketProviderOps]. It first checks whether the bucket exists, since some regions accept a
// CreateBucket request for any existing bucket of the account.
func (ops *bucketProviderOpsImpl) Create(ctx context.Context, want *lumi.State[*bucket]) (lumi.ID, error) {
	b := want.Properties
	id, bare := lumi.ID(b.Name), &bucket{AccessControl: new(CannedACLPrivate)} // AWS default
	tags, err := ops.bucketTags(ctx, b.Name)
	switch {
	case cloud.Is(err, "NoSuchBucket", "AccessDenied"): // create fails if another account owns the bucket
		if err := ops.create(ctx, want); err != nil {
			return "", err
		}
	case err != nil:
		return "", cloud.Error(err)
	case tags[cloud.AttemptTag] != cloud.Attempt(want.URN, want.Token):
		return "", errTaken(b.Name)
	default:
		if bare, err = ops.Get(ctx, id, nil); err != nil {
			ops.compute(b)
			return id, err
		}
	}
	wanted := *b
	b.AccessControl, b.Versioning, b.CORSRules, b.Website = bare.AccessControl, bare.Versioning, bare.CORSRules, bare.Website
	ops.compute(b)
	want.Done(Bucket_AccessControl, Bucket_CORSRules, Bucket_ForceDestroy, Bucket_Tags, Bucket_Versioning, Bucket_Website)
	return id, ops.configure(ctx, wanted, want)
}

// errTaken returns the fault for an existing bucket in the account that was not created by this resource.
func errTaken(name string) error {
	return lumi.Faultf(Bucket_Name, "bucket %s already exists in this account and was not created by this resource", name)
}

// create creates a bucket with its tags in a single request, so that it always has a mark.
func (ops *bucketProviderOpsImpl) create(ctx context.Context, want *lumi.State[*bucket]) error {
	name, tags := want.Properties.Name, ops.Tags(want.URN, want.Properties.Tags)
	tags[cloud.AttemptTag] = cloud.Attempt(want.URN, want.Token)
	config := &types.CreateBucketConfiguration{Tags: tagList(tags)}
	if region := ops.Region(); region != aws.USEast1 { // requests must not name the default region
		config.LocationConstraint = types.BucketLocationConstraint(region)
	}
	_, err := ops.api().CreateBucket(ctx, &s3.CreateBucketInput{Bucket: &name, CreateBucketConfiguration: config},
		func(o *s3.Options) { o.Retryer = cloud.Once(o.Retryer) })
	switch {
	case cloud.Is(err, "BucketAlreadyExists"):
		return lumi.Faultf(Bucket_Name, "bucket %s belongs to another account: bucket names are globally unique", name)
	case cloud.Is(err, "BucketAlreadyOwnedByYou"):
		if made, err := ops.bucketTags(ctx, name); err == nil && made[cloud.AttemptTag] == tags[cloud.AttemptTag] {
			return nil // created by an attempt at the same time
		}
		return errTaken(name)
	}
	return cloud.FaultAt(err, Bucket_Name, "InvalidBucketName")
}

// compute sets the outputs of a bucket.
func (ops *bucketProviderOpsImpl) compute(b *bucket) {
	b.ARN = aws.ARNPrefix + "s3:::" + b.Name
	var website string
	if endpoint := ops.endpoint(); endpoint != nil {
		b.DomainName, website = endpoint.Host, endpoint.JoinPath(b.Name).String()
	} else {
		b.DomainName, website = amazonAddresses(b.Name, ops.Region())
	}
	b.WebsiteURL = nil
	if b.Website != nil {
		b.WebsiteURL = &website
	}
}

// amazonAddresses returns the host name of a bucket at AWS and the URL of its website.
func amazonAddresses(name string, region aws.Region) (domain, website string) {
	dash := "-"
	if region == aws.USEast2 || region == aws.EUCentral1 { // newer regions use a dot
		dash = "."
	}
	return name + ".s3." + string(region) + ".amazonaws.com",
		"http://" + name + ".s3-website" + dash + string(region) + ".amazonaws.com"
}

// Get implements [BucketProviderOps].
func (ops *bucketProviderOpsImpl) Get(ctx context.Context, id lumi.ID, old *lumi.State[*bucket]) (*bucket, error) {
	b := &bucket{Name: string(id)}
	tags, err := ops.bucketTags(ctx, b.Name)
	if err != nil {
		return nil, cloud.Error(err)
	}
	b.Tags = ops.OwnTags(tags)
	if err := ops.readSettings(ctx, b); err != nil {
		return nil, cloud.Error(err)
	}
	if old != nil && old.Properties.Versioning == nil && versions(b) == types.BucketVersioningStatusSuspended {
		b.Versioning = nil // once enabled, versioning can only be suspended
	}
	ops.compute(b)
	return b, nil
}

// Update implements [BucketProviderOps].
func (ops *bucketProviderOpsImpl) Update(ctx context.Context, old, want *lumi.State[*bucket], _ *lumi.Diff) error {
	wanted := *want.Properties
	*want.Properties = *old.Properties
	return ops.configure(ctx, wanted, want)
}

// configure applies the settings in wanted, updating want.Properties after each successful request.
func (ops *bucketProviderOpsImpl) configure(ctx context.Context, wanted bucket, want *lumi.State[*bucket]) error {
	b := want.Properties
	defer ops.compute(b)
	err := cloud.Set(want, Bucket_Tags, &b.Tags, wanted.Tags, func(own aws.Tags) error {
		_, err := ops.api().PutBucketTagging(ctx, &s3.PutBucketTaggingInput{
			Bucket: &b.Name, Tagging: &types.Tagging{TagSet: tagList(ops.Tags(want.URN, own))},
		})
		return err
	})
	if err != nil {
		return err
	}
	err = cloud.Set(want, Bucket_AccessControl, &b.AccessControl, new(access(&wanted)), func(acl *CannedACL) error {
		return ops.setAccess(ctx, b.Name, *acl)
	})
	if err != nil {
		return err
	}
	err = cloud.Set(want, Bucket_Versioning, &b.Versioning, wanted.Versioning, func(*VersioningStatus) error {
		return ops.setVersioning(ctx, b.Name, versions(&wanted))
	})
	if err != nil {
		return err
	}
	err = cloud.Set(want, Bucket_CORSRules, &b.CORSRules, wanted.CORSRules, func(rules []CORSRule) error {
		return ops.setCORS(ctx, b.Name, rules)
	})
	if err != nil {
		return err
	}
	return cloud.Set(want, Bucket_Website, &b.Website, wanted.Website, func(site *BucketWebsite) error {
		return ops.setWebsite(ctx, b.Name, site)
	})
}
