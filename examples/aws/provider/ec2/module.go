package ec2

import (
	"context"
	"maps"
	"slices"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	aws "github.com/lumi-idl/lumi/examples/aws/provider"
	"github.com/lumi-idl/lumi/examples/aws/provider/internal/cloud"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Resources returns the providers of all implemented resource types in the module.
func Resources(c *cloud.Cloud) map[tokens.Type]lumi.ResourceProvider {
	a := &account{Cloud: c, api: cloud.Client(c, aws.EC2Service, open)}
	return map[tokens.Type]lumi.ResourceProvider{
		VPC:           NewVPCProvider(&vpcProviderOpsImpl{a}),
		Subnet:        NewSubnetProvider(&subnetProviderOpsImpl{a}),
		SecurityGroup: NewSecurityGroupProvider(&securityGroupProviderOpsImpl{a}),
	}
}

// Functions returns all functions in the module.
func Functions(c *cloud.Cloud) map[tokens.Type]lumi.Function {
	a := &account{Cloud: c, api: cloud.Client(c, aws.EC2Service, open)}
	return map[tokens.Type]lumi.Function{FindImage: FindImageFunc(a.findImage).Function()}
}

// account is embedded by the implementations of all resource types in the module.
type account struct {
	*cloud.Cloud
	api func() *ec2.Client
}

func open(config sdk.Config, endpoint *string) *ec2.Client {
	return ec2.NewFromConfig(config, func(o *ec2.Options) {
		if endpoint != nil {
			o.BaseEndpoint = endpoint
		}
	})
}

// once is an option for non-idempotent requests, which must not be repeated after an uncertain outcome.
func once(o *ec2.Options) { o.Retryer = cloud.Once(o.Retryer) }

// nameTag is the tag displayed as the name in the AWS console.
const nameTag = "Name"

// tags returns all tags of a resource except [cloud.AttemptTag]: the default tags, own, the mark, and the name.
func (a *account) tags(u urn.URN, name string, own aws.Tags) aws.Tags {
	all := a.Tags(u, own)
	all[nameTag] = name
	return all
}

// read returns the name in the tags of a resource, and the tags set by the program.
func (a *account) read(tags []types.Tag) (name string, own aws.Tags) {
	all := tagMap(tags)
	name = all[nameTag]
	delete(all, nameTag)
	return name, a.OwnTags(all)
}

func checkTags(path lumi.Path, tags aws.Tags, unknown lumi.Paths) error {
	if _, ok := tags[nameTag]; ok {
		return lumi.Faultf(path.Key(nameTag), "cannot be set, because the provider sets it to the resource's name")
	}
	return cloud.CheckTags(path, tags, unknown)
}

// tagged returns the tags for a create request. It adds the tag by which find identifies the resource.
func tagged(kind types.ResourceType, tags aws.Tags, u urn.URN, token string) []types.TagSpecification {
	tags[cloud.AttemptTag] = cloud.Attempt(u, token)
	return []types.TagSpecification{{ResourceType: kind, Tags: tagList(tags)}}
}

// find returns the id of the resource created with the given URN and token. It returns [lumi.ErrNotFound] if there is none.
func (a *account) find(ctx context.Context, kind types.ResourceType, u urn.URN, token string) (lumi.ID, error) {
	return a.FindMade(ctx, func(ctx context.Context) (string, error) {
		out, err := a.api().DescribeTags(ctx, &ec2.DescribeTagsInput{Filters: []types.Filter{
			filter("resource-type", string(kind)), filter("key", cloud.AttemptTag), filter("value", cloud.Attempt(u, token)),
		}})
		if err != nil || len(out.Tags) == 0 {
			return "", err
		}
		return sdk.ToString(out.Tags[0].ResourceId), nil
	})
}

// setTags changes the program's tags from *has to wanted. all contains wanted and the provider's own tags. Since AWS adds
// and removes tags in separate requests, setTags updates *has and calls done after each of them.
func (a *account) setTags(ctx context.Context, id lumi.ID, has *aws.Tags, wanted, all aws.Tags, done func()) error {
	if maps.Equal(*has, wanted) {
		return nil
	}
	resources := []string{string(id)}
	if _, err := a.api().CreateTags(ctx, &ec2.CreateTagsInput{Resources: resources, Tags: tagList(all)}); err != nil {
		return cloud.Error(err)
	}
	var gone []types.Tag
	both := aws.Tags{}
	maps.Copy(both, wanted)
	for key, value := range *has {
		if _, stays := all[key]; !stays {
			gone, both[key] = append(gone, types.Tag{Key: &key}), value
		}
	}
	*has = both
	done()
	if len(gone) > 0 { // an empty list would remove all tags
		if _, err := a.api().DeleteTags(ctx, &ec2.DeleteTagsInput{Resources: resources, Tags: gone}); err != nil {
			return cloud.Error(err)
		}
	}
	*has = wanted
	return nil
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

// filter returns a filter that matches value literally, by escaping wildcards.
func filter(name, value string) types.Filter {
	return types.Filter{Name: &name, Values: []string{wildcards.Replace(value)}}
}

var wildcards = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`)

// resolve returns the AWS id of the resource referenced by u. It returns a fault at path if the resource does not exist.
func resolve(refs lumi.References, path lumi.Path, u urn.URN) (*string, error) {
	resource, ok := refs.Resolve(u)
	if !ok {
		return nil, lumi.Faultf(path, "%s does not exist", u)
	}
	id := string(resource.ID)
	return &id, nil
}
