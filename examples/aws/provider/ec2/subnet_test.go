package ec2_test

import (
	"testing"

	"github.com/lumi-idl/lumi/examples/aws/provider/ec2"
	"github.com/lumi-idl/lumi/examples/aws/provider/test/ec2server"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/providertest"
)

func TestSubnet(t *testing.T) {
	t.Parallel()
	server, h := start(t)
	server.Lag = 1
	vpc := network(t, h)
	other := h.Resource(ec2.VPC, "other")
	other.Create(t, bag{"name": "other", "cidrBlock": "10.0.0.0/20"})
	h.Resource(ec2.Subnet, "a").Life(t, providertest.Life{
		Create: bag{"name": "a", "vpc": vpc, "cidrBlock": "10.0.0.0/24", "availabilityZone": "us-west-2b"},
		Expect: bag{"mapPublicIPOnLaunch": false, "availableIPAddressCount": 251},
		Updates: []providertest.Change{
			{Set: bag{"mapPublicIPOnLaunch": true, "tags": bag{"tier": "front"}}},
			{Set: bag{"mapPublicIPOnLaunch": nil, "tags": nil}, Expect: bag{"mapPublicIPOnLaunch": false}},
		},
		Replaces: []providertest.Replacement{
			{
				Set: bag{"cidrBlock": "10.0.1.0/28"}, Because: []lumi.Path{"cidrBlock"},
				Expect: bag{"availableIPAddressCount": 11},
			},
			{Set: bag{"availabilityZone": "us-west-2c"}, Because: []lumi.Path{"availabilityZone"}},
			{Set: bag{"vpc": other}, Because: []lumi.Path{"vpc"}},
		},
	})
}

// Get returns the URN of a managed VPC and the zone chosen by AWS.
func TestSubnetInManagedVPC(t *testing.T) {
	t.Parallel()
	_, h := start(t)
	vpc := network(t, h)
	subnet := h.Resource(ec2.Subnet, "a")
	subnet.Create(t, bag{"name": "a", "vpc": vpc, "cidrBlock": "10.0.0.0/24"})
	got := subnet.Get(t).Struct().GetFields()
	if zone := got["availabilityZone"].GetStringValue(); zone != "us-west-2a" {
		t.Errorf("availabilityZone = %q, want us-west-2a", zone)
	}
	if u := got["vpc"].GetStringValue(); u != string(vpc.URN()) {
		t.Errorf("vpc = %q, want %s", u, vpc.URN())
	}
	vpc.Delete(t, providertest.WantRetry("DependencyViolation: The vpc '"+string(vpc.ID())+
		"' has dependencies and cannot be deleted"))
}

func TestSubnetFaults(t *testing.T) {
	t.Parallel()
	_, h := start(t)
	vpc := network(t, h)
	first := h.Resource(ec2.Subnet, "first")
	first.Create(t, bag{"name": "first", "vpc": vpc, "cidrBlock": "10.0.0.0/24"})

	subnet := h.Resource(ec2.Subnet, "second")
	properties := bag{"name": "second", "vpc": vpc, "cidrBlock": "10.0.1.0/24"}
	subnet.Check(t, properties.With(bag{
		"cidrBlock": "10.0.1.0/30", "ipv6CIDRBlock": "fd00::/64", "assignIpv6AddressOnCreation": false,
		"tags": bag{"aws:x": "y"},
	}), providertest.WantFaults(
		`tags["aws:x"]: tag keys that begin with aws: or lumi: are reserved`,
		"ipv6CIDRBlock: is not supported by this provider: remove it",
		"assignIpv6AddressOnCreation: is not supported by this provider: remove it",
		"cidrBlock: must be an IPv4 CIDR block from /16 to /28, got 10.0.1.0/30",
	))
	gone := h.Given(ec2.VPC, "gone", "vpc-0404", bag{"name": "gone", "cidrBlock": "10.0.0.0/16"})
	planned := h.Given(ec2.VPC, "planned", "", bag{"name": "planned", "cidrBlock": "10.0.0.0/16"})
	for name, test := range map[string]struct {
		set   bag
		fault string
	}{
		"conflict": {
			bag{"cidrBlock": "10.0.0.128/25"},
			"cidrBlock: InvalidSubnet.Conflict: The CIDR '10.0.0.128/25' conflicts with another subnet",
		},
		"range": {bag{"cidrBlock": "10.1.0.0/24"}, "cidrBlock: InvalidSubnet.Range: The CIDR '10.1.0.0/24' is invalid"},
		"zone": {
			bag{"availabilityZone": "eu-west-1a"},
			"availabilityZone: InvalidParameterValue: Value (eu-west-1a) for parameter availabilityZone is invalid." +
				" Subnets can currently only be created in the following availability zones: us-west-2a, us-west-2b, us-west-2c",
		},
		"network gone": {bag{"vpc": gone}, "vpc: InvalidVpcID.NotFound: The vpc ID 'vpc-0404' does not exist"},
		"no network":   {bag{"vpc": planned}, "vpc: urn:lumi:test::aws:ec2::aws:ec2:VPC::planned does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			subnet.Create(t, properties.With(test.set), providertest.WantFaults(test.fault))
		})
	}
}

func TestSubnetFailures(t *testing.T) {
	t.Parallel()
	server, h := start(t)
	subnet := h.Resource(ec2.Subnet, "a")
	subnet.GetID(t, "subnet-0123", providertest.WantNotFound())
	vpc := network(t, h)
	properties := bag{"name": "a", "vpc": vpc, "cidrBlock": "10.0.0.0/24", "mapPublicIPOnLaunch": true}

	server.Fail("CreateSubnet", ec2server.Throttled)
	subnet.Create(t, properties, providertest.WantRetry("RequestLimitExceeded: Request limit exceeded"))
	server.Fail("ModifySubnetAttribute", ec2server.Refused)
	subnet.Create(t, properties, providertest.WantPartial("UnauthorizedOperation"))
	subnet.Update(t, bag{"mapPublicIPOnLaunch": true})
	release := server.Hold(string(subnet.ID()))
	subnet.Delete(t, providertest.WantRetry("DependencyViolation: The subnet '"+string(subnet.ID())+
		"' has dependencies and cannot be deleted"))
	release()
	subnet.Delete(t)
}
