package ec2

import (
	"context"
	"errors"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/lumi-idl/lumi/examples/aws/provider/internal/cloud"
	lumi "github.com/lumi-idl/lumi/runtime"
)

// vpcProviderOpsImpl implements networks.
type vpcProviderOpsImpl struct{ *account }

// Check implements [VPCProviderOps]. It fills in what Amazon takes where nothing is said.
func (ops *vpcProviderOpsImpl) Check(_ context.Context, want *lumi.State[*vpc]) error {
	network := want.Properties
	cloud.FillIn(want.Unknown, VPC_EnableDNSHostnames, &network.EnableDNSHostnames, false)
	cloud.FillIn(want.Unknown, VPC_EnableDNSSupport, &network.EnableDNSSupport, true)
	cloud.FillIn(want.Unknown, VPC_InstanceTenancy, &network.InstanceTenancy, TenancyDefault)
	faults := []error{checkTags(VPC_Tags, network.Tags, want.Unknown)}
	if !want.Unknown.Has(VPC_CIDRBlock) {
		faults = append(faults, checkNetworkBlock(VPC_CIDRBlock, network.CIDRBlock))
	}
	if is(network.EnableDNSHostnames, true) && is(network.EnableDNSSupport, false) {
		faults = append(faults, lumi.Faultf(VPC_EnableDNSHostnames, "needs %s", VPC_EnableDNSSupport))
	}
	if is(network.InstanceTenancy, TenancyHost) {
		faults = append(faults, lumi.Faultf(VPC_InstanceTenancy, "only instances may ask for %q, not networks", TenancyHost))
	}
	return errors.Join(faults...)
}

// Create implements [VPCProviderOps].
func (ops *vpcProviderOpsImpl) Create(ctx context.Context, want *lumi.State[*vpc]) (lumi.ID, error) {
	network := want.Properties
	tags := ops.tags(want.URN, network.Name, network.Tags)
	tenancy := types.Tenancy(or(network.InstanceTenancy, TenancyDefault))
	made, found, err := cloud.MakeOnce(func() (string, error) {
		// What has the mark of this resource and other properties is what this one replaces.
		out, err := ops.api().DescribeVpcs(ctx, &ec2.DescribeVpcsInput{Filters: []types.Filter{
			filter("tag:"+cloud.MarkTag, tags[cloud.MarkTag]), filter("tag:"+nameTag, network.Name),
			filter("cidr", network.CIDRBlock),
		}})
		if err != nil {
			return "", err
		}
		for _, v := range out.Vpcs {
			if v.InstanceTenancy == tenancy {
				return sdk.ToString(v.VpcId), nil
			}
		}
		return "", nil
	}, func() (string, error) {
		out, err := ops.api().CreateVpc(ctx, &ec2.CreateVpcInput{
			CidrBlock: &network.CIDRBlock, InstanceTenancy: tenancy,
			TagSpecifications: tagged(types.ResourceTypeVpc, tags),
		}, once)
		if err != nil {
			return "", err
		}
		return sdk.ToString(or(out.Vpc, types.Vpc{}).VpcId), nil
	})
	if err != nil {
		return "", cloud.FaultAt(err, VPC_CIDRBlock, "InvalidVpc.Range")
	}
	id := lumi.ID(made)
	network.IPv6CIDRBlocks = []string{}
	err = cloud.Wait(ctx, made, func() (bool, error) {
		v, err := ops.describe(ctx, id)
		return err == nil && v.State == types.VpcStateAvailable, err
	})
	bare := &vpc{Tags: network.Tags, InstanceTenancy: network.InstanceTenancy}
	if err == nil && found {
		bare, err = ops.Get(ctx, id)
	}
	if err != nil {
		network.EnableDNSHostnames, network.EnableDNSSupport = nil, nil
		return id, cloud.Error(err)
	}
	return id, cloud.Run(ops.steps(ctx, id, bare, want)...)
}

// Get implements [VPCProviderOps]. Nothing says which resource the network's default security group might be: no
// program has made it.
func (ops *vpcProviderOpsImpl) Get(ctx context.Context, id lumi.ID) (*vpc, error) {
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

// describe finds a network. The error is Amazon's own.
func (ops *vpcProviderOpsImpl) describe(ctx context.Context, id lumi.ID) (*types.Vpc, error) {
	out, err := ops.api().DescribeVpcs(ctx, &ec2.DescribeVpcsInput{VpcIds: []string{string(id)}})
	if err != nil {
		return nil, err
	}
	if len(out.Vpcs) == 0 {
		return nil, lumi.ErrNotFound
	}
	return &out.Vpcs[0], nil
}

func ipv6Blocks(v *types.Vpc) []string {
	blocks := []string{}
	for _, a := range v.Ipv6CidrBlockAssociationSet {
		if a.Ipv6CidrBlockState != nil && a.Ipv6CidrBlockState.State == types.VpcCidrBlockStateCodeAssociated {
			blocks = append(blocks, sdk.ToString(a.Ipv6CidrBlock))
		}
	}
	return blocks
}

// InspectChange implements [VPCProviderOps]. A network may go from hosts of its own to shared ones, and not back.
func (ops *vpcProviderOpsImpl) InspectChange(_ context.Context, old, want *lumi.State[*vpc], diff *lumi.Diff) error {
	from, to := or(old.Properties.InstanceTenancy, TenancyDefault), or(want.Properties.InstanceTenancy, TenancyDefault)
	if want.Unknown.Has(VPC_InstanceTenancy) || from != to && to != TenancyDefault {
		diff.Replace(VPC_InstanceTenancy)
	}
	return nil
}

// Update implements [VPCProviderOps].
func (ops *vpcProviderOpsImpl) Update(ctx context.Context, old, want *lumi.State[*vpc], _ *lumi.Diff) error {
	return cloud.Run(ops.steps(ctx, old.ID, old.Properties, want)...)
}

// steps lead from the properties that a network has to those that are wanted.
func (ops *vpcProviderOpsImpl) steps(
	ctx context.Context, id lumi.ID, has *vpc, want *lumi.State[*vpc],
) []cloud.Step {
	network, vpcID := want.Properties, string(id)
	all := ops.tags(want.URN, network.Name, network.Tags)
	tags := ops.tagSteps(ctx, id, has.Tags, &network.Tags, all)
	return append(append(ops.attributes(ctx, id, has, network), tags...), cloud.Step{
		// InspectChange leaves but this change to an update.
		Needed: or(has.InstanceTenancy, TenancyDefault) != or(network.InstanceTenancy, TenancyDefault),
		Do: func() error {
			_, err := ops.api().ModifyVpcTenancy(ctx, &ec2.ModifyVpcTenancyInput{
				VpcId: &vpcID, InstanceTenancy: types.VpcTenancyDefault,
			})
			return cloud.Error(err)
		},
		Keep: func() { network.InstanceTenancy = has.InstanceTenancy },
	})
}

// attributes are the steps that lead from the attributes of one network to those of another. Amazon changes them one by
// one, and insists that no network have host names without a name server, not even in between.
func (ops *vpcProviderOpsImpl) attributes(ctx context.Context, id lumi.ID, old, want *vpc) []cloud.Step {
	vpcID := string(id)
	modify := func(input ec2.ModifyVpcAttributeInput) error {
		input.VpcId = &vpcID
		_, err := ops.api().ModifyVpcAttribute(ctx, &input)
		return cloud.Error(err)
	}
	hasNames, getsNames := or(old.EnableDNSHostnames, false), or(want.EnableDNSHostnames, false)
	hasServer, getsServer := or(old.EnableDNSSupport, true), or(want.EnableDNSSupport, true)
	names := cloud.Step{
		Needed: hasNames != getsNames,
		Do: func() error {
			return modify(ec2.ModifyVpcAttributeInput{EnableDnsHostnames: &types.AttributeBooleanValue{Value: &getsNames}})
		},
		Keep: func() { want.EnableDNSHostnames = old.EnableDNSHostnames },
	}
	server := cloud.Step{
		Needed: hasServer != getsServer,
		Do: func() error {
			return modify(ec2.ModifyVpcAttributeInput{EnableDnsSupport: &types.AttributeBooleanValue{Value: &getsServer}})
		},
		Keep: func() { want.EnableDNSSupport = old.EnableDNSSupport },
	}
	if getsServer {
		return []cloud.Step{server, names}
	}
	return []cloud.Step{names, server}
}

// Delete implements [VPCProviderOps].
func (ops *vpcProviderOpsImpl) Delete(ctx context.Context, old *lumi.State[*vpc]) error {
	vpcID := string(old.ID)
	_, err := ops.api().DeleteVpc(ctx, &ec2.DeleteVpcInput{VpcId: &vpcID})
	return cloud.Error(err)
}

// or is the value behind a pointer, or else what Amazon takes where there is none.
func or[T any](p *T, absent T) T {
	if p == nil {
		return absent
	}
	return *p
}

// is reports whether a property is set to a value.
func is[T comparable](p *T, value T) bool { return p != nil && *p == value }
