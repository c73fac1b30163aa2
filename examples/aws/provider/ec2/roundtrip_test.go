package ec2

import (
	"testing"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/test/kit/roundtrip"
)

func TestRoundTrip(t *testing.T) {
	roundtrip.Test(t, "../../idl", "ec2", map[tokens.Type]func() lumi.Object{
		ElasticIP:                   func() lumi.Object { return new(elasticIP) },
		NATGateway:                  func() lumi.Object { return new(natGateway) },
		Instance:                    func() lumi.Object { return new(instance) },
		InstanceProfile:             func() lumi.Object { return new(instanceProfile) },
		InternetGateway:             func() lumi.Object { return new(internetGateway) },
		VPCGatewayAttachment:        func() lumi.Object { return new(vpcGatewayAttachment) },
		RouteTable:                  func() lumi.Object { return new(routeTable) },
		Route:                       func() lumi.Object { return new(route) },
		SubnetRouteTableAssociation: func() lumi.Object { return new(subnetRouteTableAssociation) },
		SecurityGroup:               func() lumi.Object { return new(securityGroup) },
		Subnet:                      func() lumi.Object { return new(subnet) },
		VPC:                         func() lumi.Object { return new(vpc) },
	})
}
