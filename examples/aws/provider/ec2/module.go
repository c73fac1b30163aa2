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

// Resources returns the providers of those of the module's types that are implemented.
func Resources(c *cloud.Cloud) map[tokens.Type]lumi.ResourceProvider {
	a := &account{Cloud: c, api: cloud.Client(c, aws.EC2Service, open)}
	return map[tokens.Type]lumi.ResourceProvider{
		VPC:           NewVPCProvider(&vpcProviderOpsImpl{a}),
		Subnet:        NewSubnetProvider(&subnetProviderOpsImpl{a}),
		SecurityGroup: NewSecurityGroupProvider(&securityGroupProviderOpsImpl{a}),
	}
}

// account is what the module's resources are implemented over.
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

// once is for requests that would make a second thing if they were sent again.
func once(o *ec2.Options) { o.Retryer = cloud.Once(o.Retryer) }

// nameTag is the tag that Amazon's console shows as the name of a thing.
const nameTag = "Name"

// tags are all tags of a resource.
func (a *account) tags(u urn.URN, name string, own aws.Tags) aws.Tags {
	all := a.Tags(u, own)
	all[nameTag] = name
	return all
}

// read takes the tags of a resource apart.
func (a *account) read(tags []types.Tag) (name string, own aws.Tags) {
	all := tagMap(tags)
	name = all[nameTag]
	delete(all, nameTag)
	return name, a.OwnTags(all)
}

// checkTags says which of a program's tags cannot be.
func checkTags(path lumi.Path, tags aws.Tags, unknown lumi.Paths) error {
	if _, ok := tags[nameTag]; ok {
		return lumi.Faultf(path.Key(nameTag), "is the resource's own name: leave it out")
	}
	return cloud.CheckTags(path, tags, unknown)
}

// tagged is how the tags of something new are sent, with the one that find looks for.
func tagged(kind types.ResourceType, tags aws.Tags, u urn.URN, token string) []types.TagSpecification {
	tags[cloud.AttemptTag] = cloud.Attempt(u, token)
	return []types.TagSpecification{{ResourceType: kind, Tags: tagList(tags)}}
}

// find returns the id of what the Create with the same token made.
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

// setTags leads from the tags that a program gave a resource to those that it wants now, which are among all that the
// resource gets. Amazon adds tags by one request and removes others by another.
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
	if len(gone) > 0 { // Without any, the request would remove all tags.
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

// filter picks things by what they have. Wildcards mean themselves.
func filter(name, value string) types.Filter {
	return types.Filter{Name: &name, Values: []string{wildcards.Replace(value)}}
}

var wildcards = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`)

// resolve finds what Amazon calls the resource that a capability refers to.
func resolve(refs lumi.References, path lumi.Path, u urn.URN) (*string, error) {
	resource, ok := refs.Resolve(u)
	if !ok {
		return nil, lumi.Faultf(path, "%s does not exist", u)
	}
	id := string(resource.ID)
	return &id, nil
}

// vpcURN finds the URN of a network: the one in the old state, if that refers to the network, or else that of the
// network's tags. It is empty if Lumi did not make the network.
func (a *account) vpcURN(ctx context.Context, id string, old urn.URN, refs lumi.References) (urn.URN, error) {
	if known, ok := refs.Resolve(old); id == "" || ok && string(known.ID) == id {
		return old, nil
	}
	out, err := a.api().DescribeVpcs(ctx, &ec2.DescribeVpcsInput{VpcIds: []string{id}})
	if err != nil || len(out.Vpcs) == 0 {
		return "", cloud.Error(err)
	}
	return cloud.Marked(tagMap(out.Vpcs[0].Tags)), nil
}
