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

// tagged is how the tags of something new are sent.
func tagged(kind types.ResourceType, tags aws.Tags) []types.TagSpecification {
	return []types.TagSpecification{{ResourceType: kind, Tags: tagList(tags)}}
}

// tagSteps lead from the tags that a program gave a resource to those that it wants now, which are among all that the
// resource gets.
func (a *account) tagSteps(ctx context.Context, id lumi.ID, has aws.Tags, want *aws.Tags, all aws.Tags) []cloud.Step {
	resources := []string{string(id)}
	var gone []types.Tag
	for key := range has {
		if _, stays := all[key]; !stays {
			gone = append(gone, types.Tag{Key: &key})
		}
	}
	now, added := has, aws.Tags{}
	maps.Copy(added, has)
	maps.Copy(added, *want)
	keep := func() { *want = now }
	return []cloud.Step{{
		Needed: !maps.Equal(has, *want),
		Do: func() error {
			_, err := a.api().CreateTags(ctx, &ec2.CreateTagsInput{Resources: resources, Tags: tagList(all)})
			return done(err, &now, added)
		},
		Keep: keep,
	}, {
		Needed: len(gone) > 0,
		Do: func() error {
			_, err := a.api().DeleteTags(ctx, &ec2.DeleteTagsInput{Resources: resources, Tags: gone})
			return cloud.Error(err)
		},
		Keep: keep,
	}}
}

// done notes what there is once a request has been carried out.
func done[T any](err error, has *T, then T) error {
	if err == nil {
		*has = then
	}
	return cloud.Error(err)
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

// vpcURN finds the URN of a network, or none: Amazon knows it only of those that this provider made.
func (a *account) vpcURN(ctx context.Context, id string) (urn.URN, error) {
	if id == "" {
		return "", nil
	}
	out, err := a.api().DescribeVpcs(ctx, &ec2.DescribeVpcsInput{VpcIds: []string{id}})
	if err != nil || len(out.Vpcs) == 0 {
		return "", cloud.Error(err)
	}
	u, _ := cloud.Marked(tagMap(out.Vpcs[0].Tags))
	return u, nil
}
