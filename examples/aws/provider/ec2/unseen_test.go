package ec2_test

import (
	"testing"

	"github.com/lumi-idl/lumi/examples/aws/provider/ec2"
	"github.com/lumi-idl/lumi/examples/aws/provider/test/ec2server"
	"github.com/lumi-idl/lumi/runtime/providertest"
)

// If a new resource cannot be read, Create returns the known properties, and the next Update sets the others.
func TestCreateReadFails(t *testing.T) {
	t.Parallel()
	server, h := start(t)
	vpc := h.Resource(ec2.VPC, "main")
	server.Fail("DescribeVpcs", ec2server.Refused)
	vpc.Create(t, bag{"name": "main", "cidrBlock": "10.0.0.0/16"}, providertest.WantPartial("UnauthorizedOperation"))
	vpc.Update(t, bag{"enableDNSHostnames": true})

	subnet := h.Resource(ec2.Subnet, "a")
	server.Fail("DescribeSubnets", ec2server.Refused)
	subnet.Create(t, bag{"name": "a", "vpc": vpc, "cidrBlock": "10.0.0.0/24"},
		providertest.WantPartial("UnauthorizedOperation"))
	subnet.Update(t, bag{"mapPublicIPOnLaunch": true})

	group := h.Resource(ec2.SecurityGroup, "web")
	server.Fail("DescribeSecurityGroups", ec2server.Refused)
	group.Create(t, bag{"name": "web", "groupDescription": "Web", "vpc": vpc},
		providertest.WantPartial("UnauthorizedOperation"))
	group.Update(t, bag{"securityGroupIngress": []any{tcp(80)}})
	for _, r := range []*providertest.Resource{group, subnet, vpc} {
		r.Delete(t)
	}
	if left := server.Left(); len(left) > 0 {
		t.Errorf("resources left in the account = %v, want none", left)
	}
}
