package ec2

import (
	"context"
	"errors"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/lumi-idl/lumi/examples/aws/provider/internal/cloud"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// securityGroupProviderOpsImpl implements security groups. The code for rules is in security_group_rules.go.
type securityGroupProviderOpsImpl struct{ *account }

// Check implements [SecurityGroupProviderOps]. By default, a group allows all outbound and no inbound traffic, as in the
// AWS console.
func (ops *securityGroupProviderOpsImpl) Check(_ context.Context, want *lumi.State[*securityGroup]) error {
	group := want.Properties
	if group.SecurityGroupEgress == nil && !want.Unknown.Has(SecurityGroup_SecurityGroupEgress) {
		group.SecurityGroupEgress = everything()
	}
	if group.SecurityGroupIngress == nil && !want.Unknown.Has(SecurityGroup_SecurityGroupIngress) {
		group.SecurityGroupIngress = []securityGroupRule{}
	}
	return errors.Join(
		checkGroupName(group.Name, want.Unknown),
		checkRules(SecurityGroup_SecurityGroupEgress, group.SecurityGroupEgress, want.Unknown),
		checkRules(SecurityGroup_SecurityGroupIngress, group.SecurityGroupIngress, want.Unknown),
	)
}

// everything returns the default outbound rules of AWS, which allow all traffic.
func everything() []securityGroupRule {
	return []securityGroupRule{{IPProtocol: anyProtocol, CIDRIP: new(AnyIPv4)}}
}

// checkGroupName checks what the pattern of the IDL cannot express.
func checkGroupName(name string, unknown lumi.Paths) error {
	if !unknown.Has(SecurityGroup_Name) && strings.HasPrefix(name, "sg-") {
		return lumi.Faultf(SecurityGroup_Name, "must not begin with sg-, which is reserved for ids")
	}
	return nil
}

// Create implements [SecurityGroupProviderOps].
func (ops *securityGroupProviderOpsImpl) Create(
	ctx context.Context, want *lumi.State[*securityGroup],
) (lumi.ID, error) {
	group := want.Properties
	vpcID, err := ops.network(ctx, want)
	if err != nil {
		return "", err
	}
	tags := ops.tags(want.URN, group.Name, nil)
	out, err := ops.api().CreateSecurityGroup(ctx, &ec2.CreateSecurityGroupInput{
		GroupName: &group.Name, Description: &group.GroupDescription, VpcId: vpcID,
		TagSpecifications: tagged(types.ResourceTypeSecurityGroup, tags, want.URN, want.Token),
	}, once)
	switch {
	case cloud.Is(err, "InvalidVpcID.NotFound"):
		return "", cloud.FaultAt(err, SecurityGroup_VPC, "InvalidVpcID.NotFound")
	case err != nil:
		return "", cloud.FaultAt(err, SecurityGroup_Name, "InvalidGroup.Duplicate", "InvalidGroup.Reserved")
	}
	id := lumi.ID(sdk.ToString(out.GroupId))
	group.GroupID = new(string(id))
	wanted := *group
	group.SecurityGroupIngress, group.SecurityGroupEgress = []securityGroupRule{}, everything() // AWS defaults
	want.Done(SecurityGroup_SecurityGroupIngress, SecurityGroup_SecurityGroupEgress)
	err = cloud.Wait(ctx, string(id), func(ctx context.Context) (string, bool, error) {
		_, err := ops.describe(ctx, id)
		return "", true, err
	})
	if err != nil {
		return id, err
	}
	return id, ops.setRules(ctx, id, wanted, want)
}

// Find implements [lumi.Finder].
func (ops *securityGroupProviderOpsImpl) Find(
	ctx context.Context, want *lumi.State[*securityGroup],
) (lumi.ID, error) {
	return ops.find(ctx, types.ResourceTypeSecurityGroup, want.URN, want.Token)
}

// network returns the id of the group's VPC, or of the account's default VPC if the group sets none.
func (ops *securityGroupProviderOpsImpl) network(
	ctx context.Context, want *lumi.State[*securityGroup],
) (*string, error) {
	if want.Properties.VPC != nil {
		return resolve(want.Refs, SecurityGroup_VPC, *want.Properties.VPC)
	}
	id, err := ops.defaultVPC(ctx)
	if err == nil && id == "" {
		err = lumi.Faultf(SecurityGroup_VPC, "is required: the account has no default VPC in %s", ops.Region())
	}
	return &id, err
}

// defaultVPC returns the id of the account's default VPC, or "" if it has none.
func (ops *securityGroupProviderOpsImpl) defaultVPC(ctx context.Context) (string, error) {
	out, err := ops.api().DescribeVpcs(ctx, &ec2.DescribeVpcsInput{
		Filters: []types.Filter{filter("is-default", "true")},
	})
	if err != nil || len(out.Vpcs) == 0 {
		return "", cloud.Error(err)
	}
	return sdk.ToString(out.Vpcs[0].VpcId), nil
}

// Get implements [SecurityGroupProviderOps]. It omits the VPC if the program did not set it, and the default VPC of a group to
// import.
func (ops *securityGroupProviderOpsImpl) Get(
	ctx context.Context, id lumi.ID, old *lumi.State[*securityGroup],
) (*securityGroup, error) {
	g, err := ops.describe(ctx, id)
	if err != nil {
		return nil, cloud.Error(err)
	}
	vpc, omitted := sdk.ToString(g.VpcId), ""
	if old == nil {
		old = &lumi.State[*securityGroup]{Properties: &securityGroup{}}
		if omitted, err = ops.defaultVPC(ctx); err != nil {
			return nil, err
		}
	} else if old.Properties.VPC == nil {
		omitted = vpc
	}
	group := &securityGroup{
		Name:                 sdk.ToString(g.GroupName),
		GroupDescription:     sdk.ToString(g.Description),
		SecurityGroupIngress: listRules(permitted(g.IpPermissions), old.Properties.SecurityGroupIngress),
		SecurityGroupEgress:  listRules(permitted(g.IpPermissionsEgress), old.Properties.SecurityGroupEgress),
		GroupID:              new(string(id)),
	}
	if u := urn.ByID(VPC, vpc); u != "" && vpc != omitted {
		group.VPC = &u
	}
	return group, nil
}

// describe reads a group. It returns errors as reported by the SDK.
func (ops *securityGroupProviderOpsImpl) describe(ctx context.Context, id lumi.ID) (g types.SecurityGroup, err error) {
	out, err := ops.api().DescribeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{GroupIds: []string{string(id)}})
	if err != nil {
		return g, err
	}
	if len(out.SecurityGroups) == 0 {
		return g, lumi.ErrNotFound
	}
	return out.SecurityGroups[0], nil
}

// InspectChange implements [lumi.Inspector]. Since names are unique within a VPC, a group is deleted before its replacement
// if the name and the VPC stay the same.
func (ops *securityGroupProviderOpsImpl) InspectChange(
	_ context.Context, _, _ *lumi.State[*securityGroup], diff *lumi.Diff,
) error {
	if !diff.Changed(SecurityGroup_VPC) && !diff.Changed(SecurityGroup_Name) {
		diff.DeleteBeforeReplace()
	}
	return nil
}

// Update implements [SecurityGroupProviderOps]. Only rules can change in place.
func (ops *securityGroupProviderOpsImpl) Update(
	ctx context.Context, old, want *lumi.State[*securityGroup], _ *lumi.Diff,
) error {
	return ops.setRules(ctx, old.ID, *want.Properties, want)
}

// Delete implements [SecurityGroupProviderOps].
func (ops *securityGroupProviderOpsImpl) Delete(ctx context.Context, old *lumi.State[*securityGroup]) error {
	groupID := string(old.ID)
	_, err := ops.api().DeleteSecurityGroup(ctx, &ec2.DeleteSecurityGroupInput{GroupId: &groupID})
	return cloud.Error(err)
}
