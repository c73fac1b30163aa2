package lumi_test

import (
	"testing"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/test/kit/must"
)

type attachment struct{ VPC urn.URN }

func (a *attachment) Lumi(p *lumi.Props) {
	lumi.Required(p, "vpc", &a.VPC, lumi.Capability("aws:ec2:VPC", "aws:ec2:Network", "aws:ec2:Cloud"))
}

func TestRenamedCapability(t *testing.T) {
	for _, c := range []struct{ typ, want string }{
		{"aws:ec2:VPC", ""},
		{"aws:ec2:Network", ""},
		{"aws:ec2:Cloud", ""},
		{"aws:ec2:Subnet", "vpc: expected a resource of type aws:ec2:VPC, found a resource aws:ec2:Subnet \"a\""},
	} {
		message := must.Get(lumi.Encode(&attachment{urn.URN("urn:lumi:test::shop:index::" + c.typ + "::a")}))(t)
		found := ""
		if err := lumi.Decode(message, new(attachment)); err != nil {
			found = err.Error()
		}
		if found != c.want {
			t.Errorf("%s: error %q, want %q", c.typ, found, c.want)
		}
	}
}
