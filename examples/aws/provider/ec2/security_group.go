package ec2

import (
	"context"
	"errors"
	"regexp"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/lumi-idl/lumi/examples/aws/provider/internal/cloud"
	lumi "github.com/lumi-idl/lumi/runtime"
)

// securityGroupProviderOpsImpl implements security groups. Their rules are in the file security_group_rules.go.
type securityGroupProviderOpsImpl struct{ *account }

// Check implements [SecurityGroupProviderOps]. A group that says nothing lets everything out and nothing in, as Amazon
// has it.
func (ops *securityGroupProviderOpsImpl) Check(_ context.Context, want *lumi.State[*securityGroup]) error {
	group := want.Properties
	if group.SecurityGroupEgress == nil && !want.Unknown.Has(SecurityGroup_SecurityGroupEgress) {
		group.SecurityGroupEgress = []securityGroupRule{{IPProtocol: anyProtocol, CIDRIP: new(AnyIPv4)}}
	}
	if group.SecurityGroupIngress == nil && !want.Unknown.Has(SecurityGroup_SecurityGroupIngress) {
		group.SecurityGroupIngress = []securityGroupRule{}
	}
	return errors.Join(
		checkText(SecurityGroup_Name, group.Name, want.Unknown),
		checkGroupName(group.Name),
		checkText(SecurityGroup_GroupDescription, group.GroupDescription, want.Unknown),
		checkRules(SecurityGroup_SecurityGroupEgress, group.SecurityGroupEgress, want.Unknown),
		checkRules(SecurityGroup_SecurityGroupIngress, group.SecurityGroupIngress, want.Unknown),
	)
}

// maxText is the length of the longest name and of the longest description that Amazon accepts.
const maxText = 255

// text matches what Amazon accepts in both.
var text = regexp.MustCompile(`^[a-zA-Z0-9 ._\-:/()#,@\[\]+=&;{}!$*]*$`)

func checkText(path lumi.Path, value string, unknown lumi.Paths) error {
	switch {
	case unknown.Has(path):
		return nil
	case value == "":
		return lumi.Faultf(path, "is empty")
	case len(value) > maxText:
		return lumi.Faultf(path, "is longer than %d bytes", maxText)
	case !text.MatchString(value):
		return lumi.Faultf(path, "%q has characters beyond letters, digits, spaces and ._-:/()#,@[]+=&;{}!$*", value)
	}
	return nil
}

func checkGroupName(name string) error {
	if strings.HasPrefix(name, "sg-") {
		return lumi.Faultf(SecurityGroup_Name, "begins with sg-, as the ids of Amazon do")
	}
	return nil
}

// Create implements [SecurityGroupProviderOps]. If Amazon accepts the group and then refuses its rules, the group is
// there all the same, with the rules that it has by then, and that is what is reported.
func (ops *securityGroupProviderOpsImpl) Create(
	ctx context.Context, want *lumi.State[*securityGroup],
) (lumi.ID, error) {
	group := want.Properties
	vpcID, err := ops.network(ctx, want)
	if err != nil {
		return "", err
	}
	tags := ops.tags(want.URN, group.Name, nil)
	made, _, err := cloud.MakeOnce(func() (string, error) {
		filters := []types.Filter{
			filter("tag:"+cloud.MarkTag, tags[cloud.MarkTag]), filter("group-name", group.Name),
			filter("description", group.GroupDescription), filter("vpc-id", *vpcID),
		}
		out, err := ops.api().DescribeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{Filters: filters})
		if err != nil || len(out.SecurityGroups) == 0 {
			return "", err
		}
		return sdk.ToString(out.SecurityGroups[0].GroupId), nil
	}, func() (string, error) {
		out, err := ops.api().CreateSecurityGroup(ctx, &ec2.CreateSecurityGroupInput{
			GroupName: &group.Name, Description: &group.GroupDescription, VpcId: vpcID,
			TagSpecifications: tagged(types.ResourceTypeSecurityGroup, tags),
		}, once)
		if err != nil {
			return "", err
		}
		return sdk.ToString(out.GroupId), nil
	})
	switch {
	case cloud.Is(err, "InvalidVpcID.NotFound"):
		return "", cloud.FaultAt(err, SecurityGroup_VPC, "InvalidVpcID.NotFound")
	case err != nil:
		return "", cloud.FaultAt(err, SecurityGroup_Name, "InvalidGroup.Duplicate", "InvalidGroup.Reserved")
	}
	id := lumi.ID(made)
	group.GroupID = &made
	var now *types.SecurityGroup
	err = cloud.Wait(ctx, made, func() (bool, error) {
		now, err = ops.describe(ctx, id)
		return err == nil, err
	})
	if err != nil {
		group.SecurityGroupIngress, group.SecurityGroupEgress = nil, nil
		return id, cloud.Error(err)
	}
	return id, ops.setRules(ctx, now, group)
}

// network finds the network that the group is to be in: the account's default one, where the program names none.
func (ops *securityGroupProviderOpsImpl) network(
	ctx context.Context, want *lumi.State[*securityGroup],
) (*string, error) {
	if want.Properties.VPC != nil {
		return resolve(want.Refs, SecurityGroup_VPC, *want.Properties.VPC)
	}
	out, err := ops.api().DescribeVpcs(ctx, &ec2.DescribeVpcsInput{
		Filters: []types.Filter{filter("is-default", "true")},
	})
	switch {
	case err != nil:
		return nil, cloud.Error(err)
	case len(out.Vpcs) == 0:
		return nil, lumi.Faultf(SecurityGroup_VPC, "the account has no default network in %s: name a network", ops.Region())
	}
	return sdk.String(sdk.ToString(out.Vpcs[0].VpcId)), nil
}

// Get implements [SecurityGroupProviderOps]. The network is left out where no program of Lumi made it.
func (ops *securityGroupProviderOpsImpl) Get(ctx context.Context, id lumi.ID) (*securityGroup, error) {
	g, err := ops.describe(ctx, id)
	if err != nil {
		return nil, cloud.Error(err)
	}
	group := &securityGroup{
		Name:                 sdk.ToString(g.GroupName),
		GroupDescription:     sdk.ToString(g.Description),
		SecurityGroupIngress: listRules(permitted(g.IpPermissions)),
		SecurityGroupEgress:  listRules(permitted(g.IpPermissionsEgress)),
		GroupID:              new(string(id)),
	}
	u, err := ops.vpcURN(ctx, sdk.ToString(g.VpcId))
	if err == nil && u != "" {
		group.VPC = &u
	}
	return group, err
}

// describe finds a group. The error is Amazon's own.
func (ops *securityGroupProviderOpsImpl) describe(ctx context.Context, id lumi.ID) (*types.SecurityGroup, error) {
	out, err := ops.api().DescribeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{GroupIds: []string{string(id)}})
	if err != nil {
		return nil, err
	}
	if len(out.SecurityGroups) == 0 {
		return nil, lumi.ErrNotFound
	}
	return &out.SecurityGroups[0], nil
}

// InspectChange implements [SecurityGroupProviderOps]. What the IDL says about replacements is all there is to say.
func (ops *securityGroupProviderOpsImpl) InspectChange(
	_ context.Context, _, _ *lumi.State[*securityGroup], _ *lumi.Diff,
) error {
	return nil
}

// Update implements [SecurityGroupProviderOps]. Only rules can change; all else replaces the group.
func (ops *securityGroupProviderOpsImpl) Update(
	ctx context.Context, old, want *lumi.State[*securityGroup], _ *lumi.Diff,
) error {
	now, err := ops.describe(ctx, old.ID)
	if err != nil {
		return cloud.Error(err)
	}
	return ops.setRules(ctx, now, want.Properties)
}

// Delete implements [SecurityGroupProviderOps].
func (ops *securityGroupProviderOpsImpl) Delete(ctx context.Context, old *lumi.State[*securityGroup]) error {
	groupID := string(old.ID)
	_, err := ops.api().DeleteSecurityGroup(ctx, &ec2.DeleteSecurityGroupInput{GroupId: &groupID})
	return cloud.Error(err)
}
