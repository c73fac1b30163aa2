package ec2

import (
	"context"
	"errors"
	"slices"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/lumi-idl/lumi/examples/aws/provider/internal/cloud"
	lumi "github.com/lumi-idl/lumi/runtime"
)

// vpcProviderOpsImpl implements VPCs.
type vpcProviderOpsImpl struct{ *account }

// Check implements [VPCProviderOps]. It fills in the AWS defaults.
func (ops *vpcProviderOpsImpl) Check(_ context.Context, want *lumi.State[*vpc]) error {
	network := want.Properties
	cloud.FillIn(want.Unknown, VPC_EnableDNSHostnames, &network.EnableDNSHostnames, false)
	cloud.FillIn(want.Unknown, VPC_EnableDNSSupport, &network.EnableDNSSupport, true)
	cloud.FillIn(want.Unknown, VPC_InstanceTenancy, &network.InstanceTenancy, TenancyDefault)
	faults := []error{checkTags(VPC_Tags, network.Tags, want.Unknown)}
	if !want.Unknown.Has(VPC_CIDRBlock) {
		faults = append(faults, checkNetworkBlock(VPC_CIDRBlock, network.CIDRBlock))
	}
	return errors.Join(faults...)
}

// Create implements [VPCProviderOps].
func (ops *vpcProviderOpsImpl) Create(ctx context.Context, want *lumi.State[*vpc]) (lumi.ID, error) {
	network := want.Properties
	tags := ops.tags(want.URN, network.Name, network.Tags)
	out, err := ops.api().CreateVpc(ctx, &ec2.CreateVpcInput{
		CidrBlock: &network.CIDRBlock, InstanceTenancy: types.Tenancy(or(network.InstanceTenancy, TenancyDefault)),
		TagSpecifications: tagged(types.ResourceTypeVpc, tags, want.URN, want.Token),
	}, once)
	if err != nil {
		return "", cloud.FaultAt(err, VPC_CIDRBlock, "InvalidVpc.Range")
	}
	id := lumi.ID(sdk.ToString(or(out.Vpc, types.Vpc{}).VpcId))
	wanted := *network
	network.EnableDNSHostnames, network.EnableDNSSupport = new(false), new(true) // AWS defaults
	network.IPv6CIDRBlocks = []string{}
	want.Done(VPC_EnableDNSHostnames, VPC_EnableDNSSupport, VPC_InstanceTenancy, VPC_Tags)
	err = cloud.Wait(ctx, string(id), func(ctx context.Context) (string, bool, error) {
		v, err := ops.describe(ctx, id)
		return string(v.State), v.State == types.VpcStateAvailable, err
	})
	if err != nil {
		return id, err
	}
	return id, ops.setAttributes(ctx, id, wanted, want)
}

// Find implements [lumi.Finder].
func (ops *vpcProviderOpsImpl) Find(ctx context.Context, want *lumi.State[*vpc]) (lumi.ID, error) {
	return ops.find(ctx, types.ResourceTypeVpc, want.URN, want.Token)
}

// Get implements [VPCProviderOps]. It omits the default security group, which is created by AWS and has no URN.
func (ops *vpcProviderOpsImpl) Get(ctx context.Context, id lumi.ID, _ *lumi.State[*vpc]) (*vpc, error) {
	v, err := ops.describe(ctx, id)
	if err != nil {
		return nil, cloud.Error(err)
	}
	tenancy := Tenancy(v.InstanceTenancy)
	network := &vpc{CIDRBlock: sdk.ToString(v.CidrBlock), InstanceTenancy: &tenancy, IPv6CIDRBlocks: ipv6Blocks(v)}
	network.Name, network.Tags = ops.read(v.Tags)
	vpcID := string(id)
	hostnames, err := ops.api().DescribeVpcAttribute(ctx, &ec2.DescribeVpcAttributeInput{
		VpcId: &vpcID, Attribute: types.VpcAttributeNameEnableDnsHostnames,
	})
	if err != nil {
		return nil, cloud.Error(err)
	}
	support, err := ops.api().DescribeVpcAttribute(ctx, &ec2.DescribeVpcAttributeInput{
		VpcId: &vpcID, Attribute: types.VpcAttributeNameEnableDnsSupport,
	})
	if err != nil {
		return nil, cloud.Error(err)
	}
	network.EnableDNSHostnames = or(hostnames.EnableDnsHostnames, types.AttributeBooleanValue{}).Value
	network.EnableDNSSupport = or(support.EnableDnsSupport, types.AttributeBooleanValue{}).Value
	return network, nil
}

// describe reads a VPC. It returns errors as reported by the SDK.
func (ops *vpcProviderOpsImpl) describe(ctx context.Context, id lumi.ID) (v types.Vpc, err error) {
	out, err := ops.api().DescribeVpcs(ctx, &ec2.DescribeVpcsInput{VpcIds: []string{string(id)}})
	if err != nil {
		return v, err
	}
	if len(out.Vpcs) == 0 {
		return v, lumi.ErrNotFound
	}
	return out.Vpcs[0], nil
}

func ipv6Blocks(v types.Vpc) []string {
	blocks := []string{}
	for _, a := range v.Ipv6CidrBlockAssociationSet {
		if a.Ipv6CidrBlockState != nil && a.Ipv6CidrBlockState.State == types.VpcCidrBlockStateCodeAssociated {
			blocks = append(blocks, sdk.ToString(a.Ipv6CidrBlock))
		}
	}
	return blocks
}

// InspectChange implements [lumi.Inspector]. The tenancy can change in place from dedicated to default, but not vice versa.
func (ops *vpcProviderOpsImpl) InspectChange(_ context.Context, old, want *lumi.State[*vpc], diff *lumi.Diff) error {
	from, to := or(old.Properties.InstanceTenancy, TenancyDefault), or(want.Properties.InstanceTenancy, TenancyDefault)
	if want.Unknown.Has(VPC_InstanceTenancy) || from != to && to != TenancyDefault {
		diff.Replace(VPC_InstanceTenancy)
	}
	return nil
}

// Update implements [VPCProviderOps]. It changes the tenancy only to default, since any other change is a replacement.
func (ops *vpcProviderOpsImpl) Update(ctx context.Context, old, want *lumi.State[*vpc], _ *lumi.Diff) error {
	network, wanted := want.Properties, *want.Properties
	*network = *old.Properties
	if err := ops.setAttributes(ctx, old.ID, wanted, want); err != nil {
		return err
	}
	all := ops.tags(want.URN, network.Name, wanted.Tags)
	err := ops.setTags(ctx, old.ID, &network.Tags, wanted.Tags, all, func() { want.Done(VPC_Tags) })
	if err != nil {
		return err
	}
	tenancy := or(wanted.InstanceTenancy, TenancyDefault)
	return cloud.Set(want, VPC_InstanceTenancy, &network.InstanceTenancy, &tenancy, func(*Tenancy) error {
		_, err := ops.api().ModifyVpcTenancy(ctx, &ec2.ModifyVpcTenancyInput{
			VpcId: sdk.String(string(old.ID)), InstanceTenancy: types.VpcTenancyDefault,
		})
		return err
	})
}

// setAttributes sets the DNS attributes. AWS changes one attribute per request and rejects DNS host names without DNS
// support, so the order of the requests matters.
func (ops *vpcProviderOpsImpl) setAttributes(
	ctx context.Context, id lumi.ID, wanted vpc, want *lumi.State[*vpc],
) error {
	network, names, server := want.Properties, or(wanted.EnableDNSHostnames, false), or(wanted.EnableDNSSupport, true)
	modify := func(input ec2.ModifyVpcAttributeInput) error {
		input.VpcId = sdk.String(string(id))
		_, err := ops.api().ModifyVpcAttribute(ctx, &input)
		return err
	}
	steps := []func() error{func() error {
		return cloud.Set(want, VPC_EnableDNSSupport, &network.EnableDNSSupport, &server, func(on *bool) error {
			return modify(ec2.ModifyVpcAttributeInput{EnableDnsSupport: &types.AttributeBooleanValue{Value: on}})
		})
	}, func() error {
		return cloud.Set(want, VPC_EnableDNSHostnames, &network.EnableDNSHostnames, &names, func(on *bool) error {
			return modify(ec2.ModifyVpcAttributeInput{EnableDnsHostnames: &types.AttributeBooleanValue{Value: on}})
		})
	}}
	if !server {
		slices.Reverse(steps)
	}
	if err := steps[0](); err != nil {
		return err
	}
	return steps[1]()
}

// Delete implements [VPCProviderOps].
func (ops *vpcProviderOpsImpl) Delete(ctx context.Context, old *lumi.State[*vpc]) error {
	vpcID := string(old.ID)
	_, err := ops.api().DeleteVpc(ctx, &ec2.DeleteVpcInput{VpcId: &vpcID})
	return cloud.Error(err)
}

// or returns *p, or absent if p is nil.
func or[T any](p *T, absent T) T {
	if p == nil {
		return absent
	}
	return *p
}
