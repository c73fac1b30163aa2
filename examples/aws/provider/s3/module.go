package s3

import (
	"context"
	"net/url"
	"slices"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	aws "github.com/lumi-idl/lumi/examples/aws/provider"
	"github.com/lumi-idl/lumi/examples/aws/provider/internal/cloud"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

// Resources returns the providers of the module's implemented types.
func Resources(c *cloud.Cloud) map[tokens.Type]lumi.ResourceProvider {
	a := &account{Cloud: c, api: cloud.Client(c, aws.S3Service, open)}
	return map[tokens.Type]lumi.ResourceProvider{
		Bucket: NewBucketProvider(&bucketProviderOpsImpl{a}),
		Object: NewObjectProvider(&objectProviderOpsImpl{a}),
	}
}

// account is the shared base of the module's resources.
type account struct {
	*cloud.Cloud
	api func() *s3.Client
}

// open uses path-style URLs for custom endpoints, which have no DNS names for buckets.
func open(config sdk.Config, endpoint *string) *s3.Client {
	return s3.NewFromConfig(config, func(o *s3.Options) {
		if endpoint != nil {
			o.BaseEndpoint = endpoint
		}
		o.UsePathStyle = o.BaseEndpoint != nil
	})
}

// endpoint returns the custom endpoint from the configuration or the environment, or nil.
func (a *account) endpoint() *url.URL {
	address := a.api().Options().BaseEndpoint
	if address == nil {
		return nil
	}
	u, err := url.Parse(*address)
	if err != nil {
		return nil // No request succeeds either.
	}
	u.User = nil // which may contain a secret
	return u
}

// bucketTags returns the tags of a bucket, empty if it has none.
func (a *account) bucketTags(ctx context.Context, name string) (aws.Tags, error) {
	out, err := a.api().GetBucketTagging(ctx, &s3.GetBucketTaggingInput{Bucket: &name})
	if cloud.Is(err, "NoSuchTagSet") {
		return aws.Tags{}, nil
	}
	if err != nil {
		return nil, err
	}
	return tagMap(out.TagSet), nil
}

func tagList(tags aws.Tags) []types.Tag {
	var list []types.Tag
	for key, value := range tags {
		list = append(list, types.Tag{Key: &key, Value: &value})
	}
	slices.SortFunc(list, func(a, b types.Tag) int { return strings.Compare(*a.Key, *b.Key) })
	return list
}

func tagMap(list []types.Tag) aws.Tags {
	tags := aws.Tags{}
	for _, tag := range list {
		tags[sdk.ToString(tag.Key)] = sdk.ToString(tag.Value)
	}
	return tags
}
