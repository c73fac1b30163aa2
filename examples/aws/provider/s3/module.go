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

// Resources returns the providers of all implemented resource types in the module.
func Resources(c *cloud.Cloud) map[tokens.Type]lumi.ResourceProvider {
	a := &account{Cloud: c, api: cloud.Client(c, aws.S3Service, open)}
	return map[tokens.Type]lumi.ResourceProvider{
		Bucket:       NewBucketProvider(&bucketProviderOpsImpl{a}),
		BucketObject: NewBucketObjectProvider(&bucketObjectProviderOpsImpl{a}),
	}
}

// account is embedded by the implementations of all resource types in the module.
type account struct {
	*cloud.Cloud
	api func() *s3.Client
}

// open returns a client. It uses path-style URLs for custom endpoints, which have no DNS names for buckets.
func open(config sdk.Config, endpoint *string) *s3.Client {
	return s3.NewFromConfig(config, func(o *s3.Options) {
		if endpoint != nil {
			o.BaseEndpoint = endpoint
		}
		o.UsePathStyle = o.BaseEndpoint != nil
	})
}

// endpoint returns the custom endpoint from the configuration or the environment, without user information. It returns nil
// if there is none.
func (a *account) endpoint() *url.URL {
	address := a.api().Options().BaseEndpoint
	if address == nil {
		return nil
	}
	u, err := url.Parse(*address)
	if err != nil {
		return nil // all requests fail, too
	}
	u.User = nil // may contain a password
	return u
}

// bucketTags returns the tags of a bucket, which may be empty. It returns errors as reported by the SDK.
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
