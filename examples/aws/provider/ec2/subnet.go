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

// subnetProviderOpsImpl implements subnets.
type subnetProviderOpsImpl struct{ *account }

// Check implements [SubnetProviderOps]. It fills in what Amazon takes where nothing is said.
func (ops *subnetProviderOpsImpl) Check(_ context.Context, want *lumi.State[*subnet]) error {
	part := want.Properties
	cloud.FillIn(want.Unknown, Subnet_MapPublicIPOnLaunch, &part.MapPublicIPOnLaunch, false)
	faults := []error{
		checkTags(Subnet_Tags, part.Tags, want.Unknown),
		cloud.Unsupported(Subnet_IPv6CIDRBlock, part.IPv6CIDRBlock != nil || want.Unknown.Has(Subnet_IPv6CIDRBlock)),
		cloud.Unsupported(Subnet_AssignIPv6AddressOnCreation,
			part.AssignIPv6AddressOnCreation != nil || want.Unknown.Has(Subnet_AssignIPv6AddressOnCreation)),
	}
	if !want.Unknown.Has(Subnet_CIDRBlock) {
		faults = append(faults, checkNetworkBlock(Subnet_CIDRBlock, part.CIDRBlock))
	}
	return errors.Join(faults...)
}

// Create implements [SubnetProviderOps].
func (ops *subnetProviderOpsImpl) Create(ctx context.Context, want *lumi.State[*subnet]) (lumi.ID, error) {
	part := want.Properties
	vpcID, err := resolve(want.Refs, Subnet_VPC, part.VPC)
	if err != nil {
		return "", err
	}
	tags := ops.tags(want.URN, part.Name, part.Tags)
	see := func(s *types.Subnet) string {
		part.SubnetID, part.AvailableIPAddressCount = sdk.ToString(s.SubnetId), float64(sdk.ToInt32(s.AvailableIpAddressCount))
		return part.SubnetID
	}
	made, found, err := cloud.MakeOnce(func() (string, error) {
		// What has the mark of this resource and other properties is what this one replaces.
		filters := []types.Filter{
			filter("tag:"+cloud.MarkTag, tags[cloud.MarkTag]), filter("tag:"+nameTag, part.Name),
			filter("vpc-id", *vpcID), filter("cidr-block", part.CIDRBlock),
		}
		if part.AvailabilityZone != nil {
			filters = append(filters, filter("availability-zone", *part.AvailabilityZone))
		}
		out, err := ops.api().DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{Filters: filters})
		if err != nil || len(out.Subnets) == 0 {
			return "", err
		}
		return see(&out.Subnets[0]), nil
	}, func() (string, error) {
		out, err := ops.api().CreateSubnet(ctx, &ec2.CreateSubnetInput{
			VpcId: vpcID, CidrBlock: &part.CIDRBlock, AvailabilityZone: part.AvailabilityZone,
			TagSpecifications: tagged(types.ResourceTypeSubnet, tags),
		}, once)
		if err != nil {
			return "", err
		}
		return see(new(or(out.Subnet, types.Subnet{}))), nil
	})
	if err != nil {
		return "", creationError(err, part)
	}
	id := lumi.ID(made)
	err = cloud.Wait(ctx, made, func() (bool, error) {
		s, err := ops.describe(ctx, id)
		if err != nil {
			return false, err
		}
		see(s)
		return s.State == types.SubnetStateAvailable, nil
	})
	bare := &subnet{Tags: part.Tags}
	if err == nil && found {
		bare, err = ops.Get(ctx, id)
	}
	if err != nil {
		part.MapPublicIPOnLaunch = nil
		return id, cloud.Error(err)
	}
	return id, cloud.Run(ops.steps(ctx, id, bare, want)...)
}

// creationError says which property is to blame.
func creationError(err error, part *subnet) error {
	switch {
	case cloud.Is(err, "InvalidVpcID.NotFound"):
		return cloud.FaultAt(err, Subnet_VPC, "InvalidVpcID.NotFound")
	case part.AvailabilityZone != nil && cloud.Is(err, "InvalidParameterValue"):
		return cloud.FaultAt(err, Subnet_AvailabilityZone, "InvalidParameterValue")
	}
	return cloud.FaultAt(err, Subnet_CIDRBlock, "InvalidSubnet.Conflict", "InvalidSubnet.Range")
}

// Get implements [SubnetProviderOps]. The network is left out where no program of Lumi made it.
func (ops *subnetProviderOpsImpl) Get(ctx context.Context, id lumi.ID) (*subnet, error) {
	s, err := ops.describe(ctx, id)
	if err != nil {
		return nil, cloud.Error(err)
	}
	part := &subnet{
		CIDRBlock: sdk.ToString(s.CidrBlock), AvailabilityZone: s.AvailabilityZone,
		MapPublicIPOnLaunch: s.MapPublicIpOnLaunch, SubnetID: string(id),
		AvailableIPAddressCount: float64(sdk.ToInt32(s.AvailableIpAddressCount)),
	}
	part.Name, part.Tags = ops.read(s.Tags)
	part.VPC, err = ops.vpcURN(ctx, sdk.ToString(s.VpcId))
	return part, err
}

// describe finds a subnet. The error is Amazon's own.
func (ops *subnetProviderOpsImpl) describe(ctx context.Context, id lumi.ID) (*types.Subnet, error) {
	out, err := ops.api().DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{SubnetIds: []string{string(id)}})
	if err != nil {
		return nil, err
	}
	if len(out.Subnets) == 0 {
		return nil, lumi.ErrNotFound
	}
	return &out.Subnets[0], nil
}

// InspectChange implements [SubnetProviderOps]. What the IDL says about replacements is all there is to say.
func (ops *subnetProviderOpsImpl) InspectChange(_ context.Context, _, _ *lumi.State[*subnet], _ *lumi.Diff) error {
	return nil
}

// Update implements [SubnetProviderOps].
func (ops *subnetProviderOpsImpl) Update(ctx context.Context, old, want *lumi.State[*subnet], _ *lumi.Diff) error {
	return cloud.Run(ops.steps(ctx, old.ID, old.Properties, want)...)
}

// steps lead from the properties that a subnet has to those that are wanted.
func (ops *subnetProviderOpsImpl) steps(
	ctx context.Context, id lumi.ID, has *subnet, want *lumi.State[*subnet],
) []cloud.Step {
	part, subnetID := want.Properties, string(id)
	public := or(part.MapPublicIPOnLaunch, false)
	all := ops.tags(want.URN, part.Name, part.Tags)
	return append([]cloud.Step{{
		Needed: or(has.MapPublicIPOnLaunch, false) != public,
		Do: func() error {
			_, err := ops.api().ModifySubnetAttribute(ctx, &ec2.ModifySubnetAttributeInput{
				SubnetId: &subnetID, MapPublicIpOnLaunch: &types.AttributeBooleanValue{Value: &public},
			})
			return cloud.Error(err)
		},
		Keep: func() { part.MapPublicIPOnLaunch = has.MapPublicIPOnLaunch },
	}}, ops.tagSteps(ctx, id, has.Tags, &part.Tags, all)...)
}

// Delete implements [SubnetProviderOps].
func (ops *subnetProviderOpsImpl) Delete(ctx context.Context, old *lumi.State[*subnet]) error {
	subnetID := string(old.ID)
	_, err := ops.api().DeleteSubnet(ctx, &ec2.DeleteSubnetInput{SubnetId: &subnetID})
	return cloud.Error(err)
}
