package ec2

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	lumi "github.com/lumi-idl/lumi/runtime"
)

// securityGroupProviderOpsImpl implements security groups over an Amazon that lives in memory.
type securityGroupProviderOpsImpl struct {
	cloud *Memory
}

// NewSecurityGroups returns the provider of the security groups in a cloud.
func NewSecurityGroups(cloud *Memory) *SecurityGroupProvider {
	return NewSecurityGroupProvider(&securityGroupProviderOpsImpl{cloud: cloud})
}

// Check implements [SecurityGroupProviderOps]. A group that says nothing about what leaves it lets everything out, as
// Amazon has it.
func (ops *securityGroupProviderOpsImpl) Check(_ context.Context, want *lumi.State[*securityGroup]) error {
	group := want.Properties
	if group.SecurityGroupEgress == nil && !want.Unknown.Has(SecurityGroup_SecurityGroupEgress) {
		anywhere := AnyIPv4
		group.SecurityGroupEgress = []securityGroupRule{{IPProtocol: "-1", CIDRIP: &anywhere}}
	}
	return errors.Join(
		checkDescription(group.GroupDescription),
		checkRules(SecurityGroup_SecurityGroupEgress, group.SecurityGroupEgress, want.Unknown),
		checkRules(SecurityGroup_SecurityGroupIngress, group.SecurityGroupIngress, want.Unknown),
	)
}

// maxDescription is the length of the longest description that Amazon accepts.
const maxDescription = 255

func checkDescription(description string) error {
	if len(description) <= maxDescription {
		return nil
	}
	return lumi.Faultf(SecurityGroup_GroupDescription, "is longer than %d bytes", maxDescription)
}

// checkRules looks at the rules of one direction. What is not known yet is looked at when it is.
func checkRules(list lumi.Path, rules []securityGroupRule, unknown lumi.Paths) error {
	var faults []error
	for i, rule := range rules {
		at := list.Index(i)
		hasPorts := rule.IPProtocol == "tcp" || rule.IPProtocol == "udp"
		for _, end := range []struct {
			name string
			port *float64
		}{
			{SecurityGroupRule_FromPort, rule.FromPort},
			{SecurityGroupRule_ToPort, rule.ToPort},
		} {
			if path := at.Field(end.name); hasPorts && end.port == nil && !unknown.Has(path) {
				faults = append(faults, lumi.Faultf(path, "is required where the protocol is %s", rule.IPProtocol))
			}
		}
		if rule.FromPort != nil && rule.ToPort != nil && hasPorts && *rule.FromPort > *rule.ToPort {
			faults = append(faults, lumi.Faultf(at, "the ports run from %v down to %v", *rule.FromPort, *rule.ToPort))
		}
		if rule.CIDRIP != nil {
			if _, err := netip.ParsePrefix(*rule.CIDRIP); err != nil {
				path := at.Field(SecurityGroupRule_CIDRIP)
				faults = append(faults, lumi.Faultf(path, "%q is no block of addresses such as 10.0.0.0/16", *rule.CIDRIP))
			}
		}
	}
	return errors.Join(faults...)
}

// Create implements [SecurityGroupProviderOps]. If Amazon accepts the group and then refuses its rules, the group is
// there all the same, without rules, and that is what is reported.
func (ops *securityGroupProviderOpsImpl) Create(
	_ context.Context, want *lumi.State[*securityGroup],
) (lumi.ID, error) {
	group := want.Properties
	vpcID := ""
	if group.VPC != nil {
		vpc, ok := want.Refs.Resolve(*group.VPC)
		if !ok {
			return "", lumi.Faultf(SecurityGroup_VPC, "there is no network %s", *group.VPC)
		}
		vpcID = string(vpc.ID)
	}
	id := ops.cloud.createGroup(group.Name, group.GroupDescription, vpcID)
	group.GroupID = &id
	if err := ops.cloud.setRules(id, group.SecurityGroupIngress, group.SecurityGroupEgress); err != nil {
		group.SecurityGroupIngress, group.SecurityGroupEgress = nil, nil
		return lumi.ID(id), fmt.Errorf("setting the rules of %s: %w", id, err)
	}
	return lumi.ID(id), nil
}

// Get implements [SecurityGroupProviderOps]. It leaves out the network, since Amazon does not know its URN.
func (ops *securityGroupProviderOpsImpl) Get(_ context.Context, id lumi.ID) (*securityGroup, error) {
	record, err := ops.cloud.group(string(id))
	if err != nil {
		return nil, notFound(err)
	}
	groupID := string(id)
	return &securityGroup{
		Name:                 record.name,
		GroupDescription:     record.description,
		SecurityGroupIngress: record.ingress,
		SecurityGroupEgress:  record.egress,
		GroupID:              &groupID,
	}, nil
}

// InspectChange implements [SecurityGroupProviderOps]. What the IDL says about replacements is all there is to say.
func (ops *securityGroupProviderOpsImpl) InspectChange(
	_ context.Context, _, _ *lumi.State[*securityGroup], _ *lumi.Diff,
) error {
	return nil
}

// Update implements [SecurityGroupProviderOps]. Only rules can change; all else replaces the group.
func (ops *securityGroupProviderOpsImpl) Update(
	_ context.Context, old, want *lumi.State[*securityGroup], _ *lumi.Diff,
) error {
	group := want.Properties
	return ops.cloud.setRules(string(old.ID), group.SecurityGroupIngress, group.SecurityGroupEgress)
}

// Delete implements [SecurityGroupProviderOps].
func (ops *securityGroupProviderOpsImpl) Delete(_ context.Context, old *lumi.State[*securityGroup]) error {
	return notFound(ops.cloud.deleteGroup(string(old.ID)))
}

// notFound says in Lumi's words what Amazon says in its own.
func notFound(err error) error {
	if errors.Is(err, errNoGroup) {
		return lumi.ErrNotFound
	}
	return err
}
