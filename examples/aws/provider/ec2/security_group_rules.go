package ec2

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"slices"
	"strconv"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/lumi-idl/lumi/examples/aws/provider/internal/cloud"
	lumi "github.com/lumi-idl/lumi/runtime"
)

// anyProtocol matches all protocols.
const anyProtocol = "-1"

// protocolNames maps protocol numbers to the names returned by AWS.
var protocolNames = map[string]string{"1": "icmp", "6": "tcp", "17": "udp", "58": "icmpv6"}

// rule is a rule in the canonical form of AWS. Equivalent rules compare equal with ==.
type rule struct {
	protocol, block string
	from, to        int32
}

func (r *SecurityGroupRule) rule() rule {
	made := rule{protocol: r.IPProtocol, from: -1, to: -1}
	if name, ok := protocolNames[r.IPProtocol]; ok {
		made.protocol = name
	}
	if r.CIDRIP != nil {
		made.block = *r.CIDRIP
	}
	if r.FromPort != nil {
		made.from = int32(*r.FromPort)
	}
	if r.ToPort != nil {
		made.to = int32(*r.ToPort)
	}
	return made
}

func (r rule) compare(other rule) int {
	return cmp.Or(cmp.Compare(r.protocol, other.protocol), cmp.Compare(r.from, other.from), cmp.Compare(r.to, other.to),
		cmp.Compare(r.block, other.block))
}

// permission converts the rule to the type used by the AWS API.
func (r rule) permission() types.IpPermission {
	p := types.IpPermission{IpProtocol: &r.protocol}
	if r.hasPorts() {
		p.FromPort, p.ToPort = &r.from, &r.to
	}
	if prefix, err := netip.ParsePrefix(r.block); err == nil && prefix.Addr().Is6() {
		p.Ipv6Ranges = []types.Ipv6Range{{CidrIpv6: &r.block}}
	} else {
		p.IpRanges = []types.IpRange{{CidrIp: &r.block}}
	}
	return p
}

// hasPorts reports whether the protocol has port numbers, or ICMP types and codes in their place.
func (r rule) hasPorts() bool { return isPorts(r.protocol) || isMessage(r.protocol) }

func isPorts(protocol string) bool   { return protocol == "tcp" || protocol == "udp" }
func isMessage(protocol string) bool { return protocol == "icmp" || protocol == "icmpv6" }

// listRules is the inverse of rulesOf. It sorts the rules, since AWS does not preserve their order, and uses the notation of
// the program's rules, such as protocol 6.
func listRules(rules []rule, program []securityGroupRule) []securityGroupRule {
	list := make([]securityGroupRule, len(rules))
	for i, r := range slices.SortedFunc(slices.Values(rules), rule.compare) {
		if same := slices.Index(rulesOf(program), r); same >= 0 {
			list[i] = program[same]
			continue
		}
		list[i] = securityGroupRule{IPProtocol: r.protocol, CIDRIP: new(r.block)}
		if r.hasPorts() {
			list[i].FromPort, list[i].ToPort = new(int(r.from)), new(int(r.to))
		}
	}
	return list
}

// permitted returns the rules in a response. AWS merges rules that differ only in their addresses; permitted splits them.
// It ignores rules that refer to other groups, which the IDL does not support.
func permitted(permissions []types.IpPermission) []rule {
	var rules []rule
	for _, p := range permissions {
		r := rule{protocol: sdk.ToString(p.IpProtocol), from: -1, to: -1}
		if p.FromPort != nil && p.ToPort != nil && r.hasPorts() {
			r.from, r.to = *p.FromPort, *p.ToPort
		}
		for _, ipv4 := range p.IpRanges {
			r.block = sdk.ToString(ipv4.CidrIp)
			rules = append(rules, r)
		}
		for _, ipv6 := range p.Ipv6Ranges {
			r.block = sdk.ToString(ipv6.CidrIpv6)
			rules = append(rules, r)
		}
	}
	return rules
}

// setRules changes a group's rules to the wanted ones. AWS rejects a request if a rule already exists or was already
// removed, because the group has changed since it was read or the response to an earlier request was lost. Since such
// requests are atomic, setRules then reads the group again and retries.
func (ops *securityGroupProviderOpsImpl) setRules(
	ctx context.Context, id lumi.ID, wanted securityGroup, want *lumi.State[*securityGroup],
) error {
	group := want.Properties
	for attempt := 1; ; attempt++ {
		now, err := ops.describe(ctx, id)
		if err != nil {
			return cloud.Error(err)
		}
		in, out := permitted(now.IpPermissions), permitted(now.IpPermissionsEgress)
		if attempt > 1 { // an earlier attempt may have changed rules
			group.SecurityGroupIngress = listRules(in, wanted.SecurityGroupIngress)
			group.SecurityGroupEgress = listRules(out, wanted.SecurityGroupEgress)
			want.Done(SecurityGroup_SecurityGroupIngress, SecurityGroup_SecurityGroupEgress)
		}
		err = ops.change(ctx, string(id), SecurityGroup_SecurityGroupIngress, in, wanted.SecurityGroupIngress,
			&group.SecurityGroupIngress, want.Done)
		if err == nil {
			err = ops.change(ctx, string(id), SecurityGroup_SecurityGroupEgress, out, wanted.SecurityGroupEgress,
				&group.SecurityGroupEgress, want.Done)
		}
		again := cloud.Unknown(err) || cloud.Is(err, "InvalidPermission.Duplicate", "InvalidPermission.NotFound")
		if !again || attempt == 3 {
			return cloud.Error(err)
		}
	}
}

// change updates the rules for one direction, ignoring their order, and stores the current rules in *list. It adds new
// rules before removing old ones, so that traffic allowed by both is not interrupted. It returns errors as reported by the
// SDK.
func (ops *securityGroupProviderOpsImpl) change(
	ctx context.Context, id string, property string, has []rule, wanted []securityGroupRule, list *[]securityGroupRule,
	done func(...string),
) error {
	wants := rulesOf(wanted)
	if more := without(wants, has); len(more) > 0 {
		if err := ops.send(ctx, id, property, true, permissions(more)); err != nil {
			return err
		}
		*list = listRules(slices.Concat(has, more), wanted)
		done(property)
	}
	if less := without(has, wants); len(less) > 0 {
		if err := ops.send(ctx, id, property, false, permissions(less)); err != nil {
			return err
		}
		done(property)
	}
	*list = wanted
	return nil
}

// send sends a request that adds rules to a group or removes them from it.
func (ops *securityGroupProviderOpsImpl) send(
	ctx context.Context, id, property string, add bool, p []types.IpPermission,
) (err error) {
	api := ops.api()
	switch in := property == SecurityGroup_SecurityGroupIngress; {
	case in && add:
		_, err = api.AuthorizeSecurityGroupIngress(ctx, &ec2.AuthorizeSecurityGroupIngressInput{GroupId: &id, IpPermissions: p})
	case in:
		_, err = api.RevokeSecurityGroupIngress(ctx, &ec2.RevokeSecurityGroupIngressInput{GroupId: &id, IpPermissions: p})
	case add:
		_, err = api.AuthorizeSecurityGroupEgress(ctx, &ec2.AuthorizeSecurityGroupEgressInput{GroupId: &id, IpPermissions: p})
	default:
		_, err = api.RevokeSecurityGroupEgress(ctx, &ec2.RevokeSecurityGroupEgressInput{GroupId: &id, IpPermissions: p})
	}
	return err
}

// without returns the elements of rules that are not in others.
func without(rules, others []rule) []rule {
	return slices.DeleteFunc(slices.Clone(rules), func(r rule) bool { return slices.Contains(others, r) })
}

func rulesOf(list []securityGroupRule) []rule {
	rules := make([]rule, len(list))
	for i := range list {
		rules[i] = list[i].rule()
	}
	return rules
}

func permissions(rules []rule) []types.IpPermission {
	list := make([]types.IpPermission, len(rules))
	for i, r := range rules {
		list[i] = r.permission()
	}
	return list
}

// checkRules returns faults for invalid or duplicate rules of one direction. It skips rules with unknown properties.
func checkRules(list lumi.Path, rules []securityGroupRule, unknown lumi.Paths) error {
	var faults []error
	seen := map[rule]int{}
	for i := range rules {
		at := list.Index(i)
		if unknown.Within(at) {
			continue
		}
		fault := checkRule(at, &rules[i])
		if first, twice := seen[rules[i].rule()]; fault == nil && twice {
			fault = lumi.Faultf(at, "duplicates %s", list.Index(first))
		}
		if fault == nil {
			seen[rules[i].rule()] = i
		}
		faults = append(faults, fault)
	}
	return errors.Join(faults...)
}

func checkRule(at lumi.Path, r *SecurityGroupRule) error {
	protocol := r.rule().protocol
	faults := []error{checkProtocol(at.Field(SecurityGroupRule_IPProtocol), r.IPProtocol)}
	if r.CIDRIP == nil {
		faults = append(faults, lumi.Faultf(at.Field(SecurityGroupRule_CIDRIP), "is required, but missing"))
	} else {
		faults = append(faults, checkBlock(at.Field(SecurityGroupRule_CIDRIP), *r.CIDRIP))
	}
	for _, end := range []struct {
		name   string
		number *int
	}{
		{SecurityGroupRule_FromPort, r.FromPort},
		{SecurityGroupRule_ToPort, r.ToPort},
	} {
		faults = append(faults, checkEnd(at.Field(end.name), protocol, end.number))
	}
	return errors.Join(faults...)
}

func checkProtocol(at lumi.Path, protocol string) error {
	if protocol == anyProtocol || isPorts(protocol) || isMessage(protocol) {
		return nil
	}
	if n, err := strconv.ParseUint(protocol, 10, 8); err != nil || strconv.FormatUint(n, 10) != protocol {
		return lumi.Faultf(at, "unknown protocol %q: must be tcp, udp, icmp, icmpv6, a number up to 255, or %s for all",
			protocol, anyProtocol)
	}
	return nil
}

// checkEnd returns a fault for an invalid port or ICMP type or code.
func checkEnd(at lumi.Path, protocol string, number *int) error {
	least, most := 0, 65535
	if isMessage(protocol) {
		least, most = -1, 255
	}
	switch {
	case !isPorts(protocol) && !isMessage(protocol):
		if number != nil {
			return lumi.Faultf(at, "is not allowed with protocol %s: remove it", protocol)
		}
		return nil
	case number == nil:
		return lumi.Faultf(at, "is required with protocol %s", protocol)
	case *number < least || *number > most:
		return lumi.Faultf(at, "must be from %d to %d, got %d", least, most, *number)
	}
	return nil
}
