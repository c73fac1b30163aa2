package ec2_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/examples/aws/provider/ec2"
	"github.com/lumi-idl/lumi/examples/aws/provider/test/ec2server"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/providertest"
)

// tcp returns a rule that opens a TCP port to all IPv4 addresses.
func tcp(port int) bag {
	return bag{"ipProtocol": "tcp", "fromPort": port, "toPort": port, "cidrip": "0.0.0.0/0"}
}

// everything is the default outbound rule.
var everything = bag{"ipProtocol": "-1", "cidrip": "0.0.0.0/0"}

func TestSecurityGroup(t *testing.T) {
	t.Parallel()
	server, h := start(t)
	server.Lag = 1
	vpc := network(t, h)
	h.Resource(ec2.SecurityGroup, "web").Life(t, providertest.Life{
		Create: bag{
			"name": "web", "groupDescription": "Web servers & more", "vpc": vpc,
			"securityGroupIngress": []any{
				bag{"ipProtocol": "icmp", "fromPort": -1, "toPort": -1, "cidrip": "10.0.0.0/8"}, tcp(80),
				bag{"ipProtocol": "tcp", "fromPort": 80, "toPort": 80, "cidrip": "::/0"},
			},
		},
		Computed: []string{"groupID"},
		Expect:   bag{"securityGroupEgress": []any{everything}},
		Updates: []providertest.Change{
			{Set: bag{"securityGroupIngress": []any{tcp(80), tcp(443)}}, Changes: []string{
				`~ securityGroupIngress[0].cidrip: "10.0.0.0/8" -> "0.0.0.0/0"`,
				"~ securityGroupIngress[0].fromPort: -1 -> 80",
				`~ securityGroupIngress[0].ipProtocol: "icmp" -> "tcp"`,
				"~ securityGroupIngress[0].toPort: -1 -> 80",
				"~ securityGroupIngress[1].fromPort: 80 -> 443",
				"~ securityGroupIngress[1].toPort: 80 -> 443",
				`- securityGroupIngress[2]: {"cidrip":"::/0","fromPort":80,"ipProtocol":"tcp","toPort":80}`,
			}},
			{Set: bag{"securityGroupEgress": []any{}}},
			{Set: bag{"securityGroupEgress": []any{bag{"ipProtocol": "51", "cidrip": "10.0.0.0/8"}}}},
			{Set: bag{"securityGroupEgress": nil}, Expect: bag{"securityGroupEgress": []any{everything}}},
			{Set: bag{"securityGroupIngress": []any{}}},
		},
		Replaces: []providertest.Replacement{
			{Set: bag{"name": "web2"}, Because: []lumi.Path{"name"}},
			{Set: bag{"groupDescription": "Others"}, Because: []lumi.Path{"groupDescription"}},
		},
		Unknown: []lumi.Path{"securityGroupIngress[1].fromPort", "securityGroupIngress[2].cidrip"},
	})
}

// A group can move between the default VPC and another one. During the replacement, two groups have the same mark.
func TestSecurityGroupInDefaultVPC(t *testing.T) {
	t.Parallel()
	server, h := start(t)
	vpc := network(t, h)
	other := h.Resource(ec2.VPC, "default")
	other.Create(t, bag{"name": "default", "cidrBlock": "10.0.0.0/16"})
	server.MakeDefault(string(other.ID()))
	h.Resource(ec2.SecurityGroup, "web").Life(t, providertest.Life{
		Create: bag{"name": "web", "groupDescription": "Web", "vpc": vpc},
		Replaces: []providertest.Replacement{
			{Set: bag{"vpc": nil}, Because: []lumi.Path{"vpc"}},
			{Set: bag{"vpc": vpc}, Because: []lumi.Path{"vpc"}},
		},
	})
}

// The order of rules is insignificant, and a different notation of a protocol sends no requests.
func TestSecurityGroupOrder(t *testing.T) {
	t.Parallel()
	server, h := start(t)
	group := h.Resource(ec2.SecurityGroup, "web")
	group.MayDiffer("securityGroupIngress") // an import returns protocols by name
	group.Create(t, bag{
		"name": "web", "groupDescription": "Web", "vpc": network(t, h), "securityGroupIngress": []any{tcp(443), tcp(80)},
	})
	group.NoChange(t, bag{"securityGroupIngress": []any{tcp(80), tcp(443)}})
	server.Calls()
	group.Update(t, bag{"securityGroupIngress": []any{tcp(443).With(bag{"ipProtocol": "6"}), tcp(80)}})
	if calls := server.Calls(); strings.Contains(strings.Join(calls, " "), "SecurityGroupIngress") {
		t.Errorf("calls to change a notation = %v, want none for inbound rules", calls)
	}
	group.Update(t, bag{"securityGroupIngress": []any{tcp(8080), tcp(443)}})
	if calls := server.Calls(); strings.Count(strings.Join(calls, " "), "SecurityGroupIngress") != 2 {
		t.Errorf("calls to replace a rule = %v, want two for inbound rules", calls)
	}
	group.Delete(t)
}

func TestSecurityGroupCheck(t *testing.T) {
	t.Parallel()
	_, h := start(t)
	group := h.Resource(ec2.SecurityGroup, "web")
	properties := bag{"name": "web", "groupDescription": "Web"}
	rule := func(set bag) bag { return bag{"securityGroupIngress": []any{tcp(80).With(set)}} }
	for name, test := range map[string]struct {
		set    bag
		faults []string
	}{
		"missing": {bag{"groupDescription": nil}, []string{"groupDescription: is required, but missing"}},
		"empty":   {bag{"groupDescription": ""}, []string{"groupDescription: must have at least 1 character, found 0"}},
		"long":    {bag{"groupDescription": strings.Repeat("x", 256)}, []string{"groupDescription: must have at most 255 characters, found 256"}},
		"letters": {bag{"groupDescription": "café"}, []string{
			`groupDescription: must be letters, digits, spaces, and ._-:/()#,@[]+=&;{}!$*, found "café"`,
		}},
		"name": {bag{"name": "café"}, []string{
			`name: must be letters, digits, spaces, and ._-:/()#,@[]+=&;{}!$*, found "café"`,
		}},
		"id":       {bag{"name": "sg-1"}, []string{"name: must not begin with sg-, which is reserved for ids"}},
		"computed": {bag{"groupID": "sg-1"}, []string{"groupID: is set by the provider, not by a program"}},
		"kind": {rule(bag{"fromPort": "80"}), []string{
			`securityGroupIngress[0].fromPort: expected a whole number, found a string "80"`,
		}},
		"protocol": {rule(bag{"ipProtocol": "TCP", "fromPort": nil, "toPort": nil}), []string{
			`securityGroupIngress[0].ipProtocol: unknown protocol "TCP": must be tcp, udp, icmp, icmpv6, a number up to 255, or -1` +
				" for all",
		}},
		"no port": {rule(bag{"ipProtocol": "udp", "fromPort": nil}), []string{
			"securityGroupIngress[0]: TCP and UDP need both ports",
		}},
		"port": {rule(bag{"toPort": 80.5, "fromPort": 65536}), []string{
			"securityGroupIngress[0].fromPort: must be at most 65535, found 65536",
			"securityGroupIngress[0].toPort: must be a whole number, found 80.5",
		}},
		"invalid port": {rule(bag{"fromPort": -1}), []string{
			"securityGroupIngress[0].fromPort: must be from 0 to 65535, got -1",
		}},
		"message": {rule(bag{"ipProtocol": "icmp", "fromPort": 256, "toPort": 300}), []string{
			"securityGroupIngress[0].fromPort: must be from -1 to 255, got 256",
			"securityGroupIngress[0].toPort: must be from -1 to 255, got 300",
		}},
		"unexpected port": {rule(bag{"ipProtocol": "-1"}), []string{
			"securityGroupIngress[0].fromPort: is not allowed with protocol -1: remove it",
			"securityGroupIngress[0].toPort: is not allowed with protocol -1: remove it",
		}},
		"no type": {rule(bag{"ipProtocol": "icmp", "fromPort": nil}), []string{
			"securityGroupIngress[0].fromPort: is required with protocol icmp",
		}},
		"reversed": {rule(bag{"ipProtocol": "6", "fromPort": 81}), []string{
			"securityGroupIngress[0]: the first port is above the last",
		}},
		"address": {rule(bag{"cidrip": "10.0.0.0"}), []string{
			`securityGroupIngress[0].cidrip: must be an IP prefix such as 10.0.0.0/8, found "10.0.0.0"`,
		}},
		"no address": {rule(bag{"cidrip": nil}), []string{"securityGroupIngress[0].cidrip: is required, but missing"}},
		"twice": {bag{"securityGroupEgress": []any{tcp(80), everything, tcp(80).With(bag{"ipProtocol": "6"})}}, []string{
			"securityGroupEgress[2]: duplicates securityGroupEgress[0]",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			group.Check(t, properties.With(test.set), providertest.WantFaults(test.faults...))
		})
	}
}

func TestSecurityGroupFaults(t *testing.T) {
	t.Parallel()
	server, h := start(t)
	vpc := network(t, h)
	// Create a group with the same name in the same VPC from another environment.
	others := over(t, server, nil, providertest.Environment("other"))
	web := others.Resource(ec2.SecurityGroup, "web")
	web.Create(t, bag{
		"name": "web", "groupDescription": "Web",
		"vpc": others.Given(ec2.VPC, "main", vpc.ID(), bag{"name": "main", "cidrBlock": "10.0.0.0/16"}),
	})

	group := h.Resource(ec2.SecurityGroup, "web")
	properties := bag{"name": "web", "groupDescription": "Web", "vpc": vpc}
	group.Create(t, properties, providertest.WantFaults(
		"name: InvalidGroup.Duplicate: The security group 'web' already exists for VPC '"+string(vpc.ID())+"'"))
	group.Create(t, properties.With(bag{"name": "default"}), providertest.WantFaults(
		"name: InvalidGroup.Reserved: The security group 'default' is reserved"))
	group.Create(t, properties.With(bag{"vpc": nil}), providertest.WantFaults(
		"vpc: is required: the account has no default VPC in us-west-2"))
	planned := h.Given(ec2.VPC, "planned", "", bag{"name": "planned", "cidrBlock": "10.0.0.0/16"})
	group.Create(t, properties.With(bag{"vpc": planned}), providertest.WantFaults(
		"vpc: urn:lumi:test::aws:ec2::aws:ec2:VPC::planned does not exist"))
	gone := h.Given(ec2.VPC, "gone", "vpc-0404", bag{"name": "gone", "cidrBlock": "10.0.0.0/16"})
	group.Create(t, properties.With(bag{"vpc": gone}), providertest.WantFaults(
		"vpc: InvalidVpcID.NotFound: The vpc ID 'vpc-0404' does not exist"))

	release := server.Hold(string(web.ID()))
	web.Delete(t, providertest.WantRetry("DependencyViolation: resource "+string(web.ID())+" has a dependent object"))
	release()
	web.Delete(t)
}

func TestSecurityGroupLimit(t *testing.T) {
	t.Parallel()
	_, h := startWith(t, bag{"maxRetries": 3}) // retries are needed because the SDK may close a connection before reading a long response
	var many []any
	for i := range 61 {
		many = append(many, tcp(i))
	}
	group := h.Resource(ec2.SecurityGroup, "web")
	group.GetID(t, "sg-0123", providertest.WantNotFound())
	limit := "RulesPerSecurityGroupLimitExceeded: The maximum number of rules per security group has been reached"
	group.Create(t, bag{
		"name": "web", "groupDescription": "Web", "vpc": network(t, h), "securityGroupIngress": many,
		"securityGroupEgress": []any{},
	}, providertest.WantPartial(limit))
	if rules := group.Output("securityGroupEgress").GetListValue().GetValues(); len(rules) != 1 {
		t.Errorf("outbound rules after partial Create = %v, want the default rule", rules)
	}
	group.Update(t, bag{"securityGroupIngress": many[:60], "securityGroupEgress": []any{}})
	group.Update(t, bag{"securityGroupIngress": many}, providertest.WantError(limit))
	group.Update(t, bag{"securityGroupIngress": many, "securityGroupEgress": nil}, providertest.WantError(limit))
	group.Delete(t)
}

func TestSecurityGroupPartialUpdate(t *testing.T) {
	t.Parallel()
	server, h := startWith(t, bag{"maxRetries": 1})
	vpc := network(t, h)
	group := h.Resource(ec2.SecurityGroup, "web")
	group.Create(t, bag{
		"name": "web", "groupDescription": "Web", "vpc": vpc, "securityGroupIngress": []any{tcp(80)},
	})
	server.Fail("AuthorizeSecurityGroupIngress", ec2server.Lost)
	server.Fail("RevokeSecurityGroupIngress", ec2server.Throttled, ec2server.Throttled)
	group.Update(t, bag{"securityGroupIngress": []any{tcp(443)}}, providertest.WantPartial("RequestLimitExceeded"))
	if rules := group.Output("securityGroupIngress").GetListValue().GetValues(); len(rules) != 2 {
		t.Errorf("inbound rules after partial Update = %v, want the old and the new one", rules)
	}
	group.Update(t, bag{"securityGroupIngress": []any{tcp(443)}})
	group.Delete(t)
	vpc.Delete(t)
}

func TestSecurityGroupLostResponses(t *testing.T) {
	t.Parallel()
	for _, retries := range []int{0, 3} {
		t.Run(fmt.Sprint(retries), func(t *testing.T) {
			t.Parallel()
			server, h := startWith(t, bag{"maxRetries": retries})
			vpc := network(t, h)
			group := h.Resource(ec2.SecurityGroup, "web")
			properties := bag{
				"name": "web", "groupDescription": "With [*], which is no wildcard", "vpc": vpc,
				"securityGroupIngress": []any{tcp(80)}, "securityGroupEgress": []any{},
			}
			server.Fail("AuthorizeSecurityGroupIngress", ec2server.Lost)
			server.Calls()
			group.Create(t, properties)
			if n := count(server, "AuthorizeSecurityGroupIngress"); n != 1+min(retries, 1) {
				t.Errorf("Create sent %d requests to add a rule, want %d", n, 1+min(retries, 1))
			}
			server.Fail("RevokeSecurityGroupIngress", ec2server.BrokenAfter)
			group.Update(t, bag{"securityGroupIngress": []any{tcp(443)}})
			if left := server.Left(); len(left) != 2 {
				t.Errorf("resources in the account = %v, want one VPC and one group", left)
			}
			server.Fail("DeleteSecurityGroup", ec2server.Lost)
			if retries == 0 {
				group.Delete(t, providertest.WantUncertain("DeleteSecurityGroup: no response from AWS: "))
			} else {
				group.Delete(t)
			}
		})
	}
}
