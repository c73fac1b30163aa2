package ec2

import (
	"context"
	"errors"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/lumi-idl/lumi/examples/aws/provider/internal/cloud"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// subnetProviderOpsImpl implements subnets.
type subnetProviderOpsImpl struct{ *account }

// Check implements [SubnetProviderOps]. It fills in the AWS defaults.
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
	out, err := ops.api().CreateSubnet(ctx, &ec2.CreateSubnetInput{
		VpcId: vpcID, CidrBlock: &part.CIDRBlock, AvailabilityZone: part.AvailabilityZone,
		TagSpecifications: tagged(types.ResourceTypeSubnet, tags, want.URN, want.Token),
	}, once)
	if err != nil {
		return "", creationError(err, part)
	}
	made := or(out.Subnet, types.Subnet{})
	part.SubnetID, part.AvailabilityZone = sdk.ToString(made.SubnetId), made.AvailabilityZone
	part.AvailableIPAddressCount = int(sdk.ToInt32(made.AvailableIpAddressCount))
	id, public := lumi.ID(part.SubnetID), or(part.MapPublicIPOnLaunch, false)
	part.MapPublicIPOnLaunch = new(false) // AWS default
	want.Done(Subnet_MapPublicIPOnLaunch, Subnet_Tags)
	err = cloud.Wait(ctx, part.SubnetID, func(ctx context.Context) (string, bool, error) {
		s, err := ops.describe(ctx, id)
		return string(s.State), s.State == types.SubnetStateAvailable, err
	})
	if err != nil {
		return id, err
	}
	return id, ops.setPublic(ctx, id, public, want)
}

// Find implements [lumi.Finder].
func (ops *subnetProviderOpsImpl) Find(ctx context.Context, want *lumi.State[*subnet]) (lumi.ID, error) {
	return ops.find(ctx, types.ResourceTypeSubnet, want.URN, want.Token)
}

// creationError converts an error of a create request to a fault at the property that caused it, or else passes it to
// [cloud.Error].
func creationError(err error, part *subnet) error {
	switch {
	case cloud.Is(err, "InvalidVpcID.NotFound"):
		return cloud.FaultAt(err, Subnet_VPC, "InvalidVpcID.NotFound")
	case part.AvailabilityZone != nil && cloud.Is(err, "InvalidParameterValue"):
		return cloud.FaultAt(err, Subnet_AvailabilityZone, "InvalidParameterValue")
	}
	return cloud.FaultAt(err, Subnet_CIDRBlock, "InvalidSubnet.Conflict", "InvalidSubnet.Range")
}

// Get implements [SubnetProviderOps].
func (ops *subnetProviderOpsImpl) Get(ctx context.Context, id lumi.ID, _ *lumi.State[*subnet]) (*subnet, error) {
	s, err := ops.describe(ctx, id)
	if err != nil {
		return nil, cloud.Error(err)
	}
	part := &subnet{
		VPC: urn.ByID(VPC, sdk.ToString(s.VpcId)), CIDRBlock: sdk.ToString(s.CidrBlock), AvailabilityZone: s.AvailabilityZone,
		MapPublicIPOnLaunch: s.MapPublicIpOnLaunch, SubnetID: string(id),
		AvailableIPAddressCount: int(sdk.ToInt32(s.AvailableIpAddressCount)),
	}
	part.Name, part.Tags = ops.read(s.Tags)
	return part, nil
}

// describe reads a subnet. It returns errors as reported by the SDK.
func (ops *subnetProviderOpsImpl) describe(ctx context.Context, id lumi.ID) (s types.Subnet, err error) {
	out, err := ops.api().DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{SubnetIds: []string{string(id)}})
	if err != nil {
		return s, err
	}
	if len(out.Subnets) == 0 {
		return s, lumi.ErrNotFound
	}
	return out.Subnets[0], nil
}

// InspectChange implements [lumi.Inspector]. A subnet is deleted before its replacement if their blocks overlap.
func (ops *subnetProviderOpsImpl) InspectChange(
	_ context.Context, old, want *lumi.State[*subnet], diff *lumi.Diff,
) error {
	if !diff.Changed(Subnet_VPC) && overlap(old.Properties.CIDRBlock, want.Properties.CIDRBlock) {
		diff.DeleteBeforeReplace()
	}
	return nil
}

// Update implements [SubnetProviderOps].
func (ops *subnetProviderOpsImpl) Update(ctx context.Context, old, want *lumi.State[*subnet], _ *lumi.Diff) error {
	part, wanted := want.Properties, *want.Properties
	*part = *old.Properties
	if err := ops.setPublic(ctx, old.ID, or(wanted.MapPublicIPOnLaunch, false), want); err != nil {
		return err
	}
	all := ops.tags(want.URN, part.Name, wanted.Tags)
	return ops.setTags(ctx, old.ID, &part.Tags, wanted.Tags, all, func() { want.Done(Subnet_Tags) })
}

// setPublic sets whether new instances receive a public IP address.
func (ops *subnetProviderOpsImpl) setPublic(
	ctx context.Context, id lumi.ID, public bool, want *lumi.State[*subnet],
) error {
	has := &want.Properties.MapPublicIPOnLaunch
	return cloud.Set(want, Subnet_MapPublicIPOnLaunch, has, &public, func(public *bool) error {
		_, err := ops.api().ModifySubnetAttribute(ctx, &ec2.ModifySubnetAttributeInput{
			SubnetId: sdk.String(string(id)), MapPublicIpOnLaunch: &types.AttributeBooleanValue{Value: public},
		})
		return err
	})
}

// Delete implements [SubnetProviderOps].
func (ops *subnetProviderOpsImpl) Delete(ctx context.Context, old *lumi.State[*subnet]) error {
	subnetID := string(old.ID)
	_, err := ops.api().DeleteSubnet(ctx, &ec2.DeleteSubnetInput{SubnetId: &subnetID})
	return cloud.Error(err)
}
