package s3

import (
	"context"
	"errors"
	"maps"
	"net"
	"reflect"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	aws "github.com/lumi-idl/lumi/examples/aws/provider"
	"github.com/lumi-idl/lumi/examples/aws/provider/internal/cloud"
	lumi "github.com/lumi-idl/lumi/runtime"
)

// bucketProviderOpsImpl implements buckets. What is set on a bucket once there is one is in the file bucket_settings.go.
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
		checkWebsite(b.Website, unknown),
	}
	if !unknown.Has(Bucket_Name) {
		faults = append(faults, checkName(b.Name))
	}
	return errors.Join(faults...)
}

var bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)

func checkName(name string) error {
	if !bucketName.MatchString(name) || strings.Contains(name, "..") || net.ParseIP(name) != nil {
		return lumi.Faultf(Bucket_Name, "%q is no name for a bucket: it takes 3 to 63 small letters, digits, dots and"+
			" hyphens, with a letter or digit at both ends", name)
	}
	return nil
}

// Create implements [BucketProviderOps].
func (ops *bucketProviderOpsImpl) Create(ctx context.Context, want *lumi.State[*bucket]) (lumi.ID, error) {
	b := want.Properties
	tags := ops.Tags(want.URN, b.Tags)
	name, found, err := cloud.MakeOnce(func() (string, error) { return ops.find(ctx, b.Name, tags) },
		func() (string, error) { return b.Name, ops.create(ctx, b.Name, tags) })
	switch {
	case cloud.Is(err, "BucketAlreadyExists"):
		return "", lumi.Faultf(Bucket_Name, "somebody else has a bucket called %s: names are unique among all accounts", b.Name)
	case cloud.Is(err, "BucketAlreadyOwnedByYou"):
		return "", errTaken(b.Name)
	case err != nil:
		return "", cloud.FaultAt(err, Bucket_Name, "InvalidBucketName")
	}
	id := lumi.ID(name)
	ops.compute(b)
	bare := &bucket{Tags: b.Tags}
	if found {
		if bare, err = ops.Get(ctx, id); err != nil {
			b.AccessControl, b.Versioning, b.CORSRules, b.Website, b.WebsiteURL = nil, nil, nil, nil, nil
			return id, err
		}
	}
	return id, cloud.Run(ops.steps(ctx, bare, want)...)
}

// errTaken is for a bucket of the account's that this provider did not make for the resource.
func errTaken(name string) error {
	return lumi.Faultf(Bucket_Name, "the account has a bucket called %s, which is not this resource's", name)
}

// find looks for a bucket that an earlier Create made.
func (ops *bucketProviderOpsImpl) find(ctx context.Context, name string, want aws.Tags) (string, error) {
	tags, err := ops.bucketTags(ctx, name)
	switch {
	case cloud.Is(err, "NoSuchBucket"), cloud.Is(err, "AccessDenied"): // Create is refused if it is somebody else's.
		return "", nil
	case err != nil:
		return "", err
	case tags[cloud.MarkTag] != want[cloud.MarkTag]:
		return "", errTaken(name)
	}
	return name, nil
}

// create makes a bucket with its tags in one request, so that there is none without its mark.
func (ops *bucketProviderOpsImpl) create(ctx context.Context, name string, tags aws.Tags) error {
	config := &types.CreateBucketConfiguration{Tags: tagList(tags)}
	if region := ops.Region(); region != aws.USEast1 { // which is what no region means, and cannot be said
		config.LocationConstraint = types.BucketLocationConstraint(region)
	}
	_, err := ops.api().CreateBucket(ctx, &s3.CreateBucketInput{Bucket: &name, CreateBucketConfiguration: config})
	return err
}

// compute sets what follows from the rest.
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

// amazonAddresses are the host name of a bucket and the address of its web site.
func amazonAddresses(name string, region aws.Region) (domain, website string) {
	dash := "-"
	if region == aws.USEast2 || region == aws.EUCentral1 { // The younger regions have a dot there.
		dash = "."
	}
	return name + ".s3." + string(region) + ".amazonaws.com",
		"http://" + name + ".s3-website" + dash + string(region) + ".amazonaws.com"
}

// Get implements [BucketProviderOps].
func (ops *bucketProviderOpsImpl) Get(ctx context.Context, id lumi.ID) (*bucket, error) {
	b := &bucket{Name: string(id)}
	tags, err := ops.bucketTags(ctx, b.Name)
	if err != nil {
		return nil, cloud.Error(err)
	}
	b.Tags = ops.OwnTags(tags)
	if err := ops.readSettings(ctx, b); err != nil {
		return nil, cloud.Error(err)
	}
	ops.compute(b)
	return b, nil
}

// InspectChange implements [BucketProviderOps]. What the IDL says about replacements is all there is to say.
func (ops *bucketProviderOpsImpl) InspectChange(_ context.Context, _, _ *lumi.State[*bucket], _ *lumi.Diff) error {
	return nil
}

// Update implements [BucketProviderOps].
func (ops *bucketProviderOpsImpl) Update(ctx context.Context, old, want *lumi.State[*bucket], _ *lumi.Diff) error {
	ops.compute(want.Properties)
	err := cloud.Run(ops.steps(ctx, old.Properties, want)...)
	ops.compute(want.Properties)
	return err
}

// steps lead from the properties that a bucket has to those that are wanted.
func (ops *bucketProviderOpsImpl) steps(ctx context.Context, has *bucket, want *lumi.State[*bucket]) []cloud.Step {
	b := want.Properties
	return []cloud.Step{{
		Needed: !maps.Equal(has.Tags, b.Tags),
		Do: func() error {
			_, err := ops.api().PutBucketTagging(ctx, &s3.PutBucketTaggingInput{
				Bucket: &b.Name, Tagging: &types.Tagging{TagSet: tagList(ops.Tags(want.URN, b.Tags))},
			})
			return cloud.Error(err)
		},
		Keep: func() { b.Tags = has.Tags },
	}, {
		Needed: access(has) != access(b),
		Do:     func() error { return ops.setAccess(ctx, b.Name, access(b)) },
		Keep:   func() { b.AccessControl = has.AccessControl },
	}, {
		Needed: versions(has) != versions(b),
		Do:     func() error { return cloud.Error(ops.setVersioning(ctx, b.Name, versions(b))) },
		Keep:   func() { b.Versioning = has.Versioning },
	}, {
		Needed: !reflect.DeepEqual(has.CORSRules, b.CORSRules),
		Do:     func() error { return cloud.Error(ops.setCORS(ctx, b.Name, b.CORSRules)) },
		Keep:   func() { b.CORSRules = has.CORSRules },
	}, {
		Needed: !reflect.DeepEqual(has.Website, b.Website),
		Do:     func() error { return cloud.Error(ops.setWebsite(ctx, b.Name, b.Website)) },
		Keep:   func() { b.Website = has.Website },
	}}
}
