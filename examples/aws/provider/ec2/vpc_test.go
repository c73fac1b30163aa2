package ec2_test

import (
	"testing"

	"github.com/lumi-idl/lumi/examples/aws/provider/ec2"
	"github.com/lumi-idl/lumi/examples/aws/provider/test/ec2server"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/providertest"
)

type bag = providertest.Properties

func TestVPC(t *testing.T) {
	t.Parallel()
	server, h := startWith(t, bag{"defaultTags": bag{"team": "web", "stage": "test"}})
	server.Lag = 2
	h.Resource(ec2.VPC, "main").Life(t, providertest.Life{
		Create: bag{"name": "main", "cidrBlock": "10.0.0.0/16", "tags": bag{"stage": "production", "a": "<&>"}},
		Expect: bag{
			"enableDNSSupport": true, "enableDNSHostnames": false, "instanceTenancy": "default", "ipv6CIDRBlocks": []any{},
		},
		Updates: []providertest.Change{
			{Set: bag{"enableDNSHostnames": true}, Changes: []string{"~ enableDNSHostnames: false -> true"}},
			{Set: bag{"enableDNSHostnames": false, "enableDNSSupport": false}},
			{Set: bag{"enableDNSHostnames": true, "enableDNSSupport": nil}, Expect: bag{"enableDNSSupport": true}},
			{Set: bag{"tags": bag{"stage": "production", "b": "2"}}},
			{Set: bag{"tags": nil}},
		},
		Replaces: []providertest.Replacement{
			{Set: bag{"cidrBlock": "10.1.0.0/20"}, Because: []lumi.Path{"cidrBlock"}},
			{Set: bag{"name": "other"}, Because: []lumi.Path{"name"}},
			{Set: bag{"instanceTenancy": "dedicated"}, Because: []lumi.Path{"instanceTenancy"}},
		},
	})
}

// The tenancy can change from dedicated to default in place.
func TestVPCTenancy(t *testing.T) {
	t.Parallel()
	_, h := start(t)
	vpc := h.Resource(ec2.VPC, "main")
	vpc.Create(t, bag{"name": "main", "cidrBlock": "10.0.0.0/16", "instanceTenancy": "dedicated"})
	vpc.Update(t, bag{"instanceTenancy": nil})
	vpc.Delete(t)
}

func TestVPCFaults(t *testing.T) {
	t.Parallel()
	server, h := start(t)
	vpc := h.Resource(ec2.VPC, "main")
	for name, test := range map[string]struct {
		set    bag
		faults []string
	}{
		"no block": {bag{"cidrBlock": "10.0.0.0"}, []string{
			`cidrBlock: must be a CIDR block such as 10.0.0.0/16, got "10.0.0.0"`,
		}},
		"digits": {bag{"cidrBlock": "10.0.0.1/16"}, []string{
			"cidrBlock: 10.0.0.1/16 has host bits set: write 10.0.0.0/16",
		}},
		"too large": {bag{"cidrBlock": "10.0.0.0/8"}, []string{
			"cidrBlock: must be an IPv4 CIDR block from /16 to /28, got 10.0.0.0/8",
		}},
		"IPv6": {bag{"cidrBlock": "fd00::/16"}, []string{
			"cidrBlock: must be an IPv4 CIDR block from /16 to /28, got fd00::/16",
		}},
		"host names without DNS": {bag{"enableDNSHostnames": true, "enableDNSSupport": false}, []string{
			"public host names need DNS support",
		}},
		"host": {bag{"instanceTenancy": "host"}, []string{
			`only instances can have the tenancy "host"`,
		}},
		"tags": {bag{"tags": bag{"aws:x": "1", "lumi:urn": "2", "": "3"}}, []string{
			`tags["aws:x"]: tag keys that begin with aws: or lumi: are reserved`,
			`tags["lumi:urn"]: tag keys that begin with aws: or lumi: are reserved`,
			`tags[""]: tag keys must not be empty`,
		}},
		"name": {bag{"tags": bag{"Name": "x"}}, []string{"tags.Name: cannot be set, because the provider sets it to the resource's name"}},
		"computed": {bag{"defaultSecurityGroup": "urn:lumi:test::p::aws:ec2:SecurityGroup::x", "color": "red"}, []string{
			"defaultSecurityGroup: is set by the provider, not by a program", "color: no such property",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			vpc.Check(t, bag{"name": "main", "cidrBlock": "10.0.0.0/16"}.With(test.set), providertest.WantFaults(test.faults...))
		})
	}
	vpc.Create(t, bag{"name": "main", "cidrBlock": "127.0.0.0/16"},
		providertest.WantFaults("cidrBlock: InvalidVpc.Range: The CIDR '127.0.0.0/16' is invalid"))
	server.Fail("CreateVpc", ec2server.Refused)
	vpc.Create(t, bag{"name": "main", "cidrBlock": "10.0.0.0/16"},
		providertest.WantError("UnauthorizedOperation: You are not authorized to perform this operation"))
}

func TestVPCNotFound(t *testing.T) {
	t.Parallel()
	_, h := start(t)
	vpc := h.Resource(ec2.VPC, "main")
	vpc.GetID(t, "vpc-0123", providertest.WantNotFound())
	vpc.GetID(t, "sg-0123", providertest.WantError(`InvalidVpcID.Malformed: Invalid id: "sg-0123" (expecting "vpc-...")`))
}

// Idempotent requests are retried.
func TestVPCLostResponse(t *testing.T) {
	t.Parallel()
	for name, way := range map[string]ec2server.Failure{"lost": ec2server.Lost, "broken": ec2server.BrokenAfter} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, h := startWith(t, bag{"maxRetries": 3})
			vpc := h.Resource(ec2.VPC, "main")
			server.Fail("ModifyVpcAttribute", way)
			vpc.Create(t, bag{"name": "main", "cidrBlock": "10.0.0.0/16", "enableDNSHostnames": true})
			server.Fail("DeleteVpc", way)
			vpc.Delete(t)
		})
	}
}

func TestVPCRetryErrors(t *testing.T) {
	t.Parallel()
	server, h := start(t)
	vpc := h.Resource(ec2.VPC, "main")
	properties := bag{"name": "main", "cidrBlock": "10.0.0.0/16"}
	server.Fail("CreateVpc", ec2server.Throttled)
	vpc.Create(t, properties, providertest.WantRetry("RequestLimitExceeded: Request limit exceeded"))
	vpc.Create(t, properties)
	release := server.Hold(string(vpc.ID()))
	vpc.Delete(t, providertest.WantRetry("DependencyViolation: The vpc '"+string(vpc.ID())+
		"' has dependencies and cannot be deleted"))
	release()
	vpc.Delete(t)
}

func TestVPCRequestRetries(t *testing.T) {
	t.Parallel()
	server, h := startWith(t, bag{"maxRetries": 2})
	vpc := h.Resource(ec2.VPC, "main")
	server.Fail("CreateVpc", ec2server.Throttled, ec2server.Throttled)
	server.Fail("DescribeVpcs", ec2server.Broken, ec2server.Throttled)
	vpc.Create(t, bag{"name": "main", "cidrBlock": "10.0.0.0/16"})
	server.Fail("ModifyVpcAttribute", ec2server.Throttled, ec2server.Throttled, ec2server.Throttled)
	vpc.Update(t, bag{"enableDNSHostnames": true}, providertest.WantRetry("RequestLimitExceeded: Request limit exceeded"))
	vpc.Delete(t)
}

func TestVPCPartialUpdate(t *testing.T) {
	t.Parallel()
	server, h := start(t)
	vpc := h.Resource(ec2.VPC, "main")
	properties := bag{"name": "main", "cidrBlock": "10.0.0.0/16", "enableDNSHostnames": true}
	server.Fail("ModifyVpcAttribute", ec2server.Refused)
	vpc.Create(t, properties, providertest.WantPartial("UnauthorizedOperation"))
	vpc.Update(t, bag{"enableDNSHostnames": true})

	server.Fail("CreateTags", ec2server.Refused)
	vpc.Update(t, bag{"enableDNSHostnames": false, "tags": bag{"a": "1"}}, providertest.WantPartial("UnauthorizedOperation"))
	if vpc.Output("tags") != nil || vpc.Output("enableDNSHostnames").GetBoolValue() {
		t.Errorf("after partial Update: tags = %v, enableDNSHostnames = %v, want none and false", vpc.Output("tags"), vpc.Output("enableDNSHostnames"))
	}
	vpc.Update(t, bag{"tags": bag{"a": "1"}})

	// Tags are added and removed in separate requests.
	server.Fail("DeleteTags", ec2server.Throttled)
	vpc.Update(t, bag{"tags": bag{"b": "2"}}, providertest.WantPartial("RequestLimitExceeded"))
	if tags := vpc.Output("tags").GetStructValue().AsMap(); len(tags) != 2 {
		t.Errorf("tags after partial Update = %v, want both the old and the new tag", tags)
	}
	vpc.Update(t, bag{"tags": bag{"b": "2"}})
	vpc.Delete(t)
}
