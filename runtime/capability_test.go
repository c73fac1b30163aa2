package lumi_test

import (
	"cmp"
	"fmt"
	"testing"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
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

// A provider may refer to a resource by id, whose type must be right. Only the id of such a resource is known.
func TestCapabilityByID(t *testing.T) {
	for of, want := range map[tokens.Type]string{
		"aws:ec2:VPC": "", "aws:ec2:Network": "",
		"aws:ec2:Subnet": "the provider returned an invalid result: vpc: is not the URN of a resource of type aws:ec2:VPC",
		"VPC":            "the provider returned an invalid result: vpc: is not the URN of a resource",
	} {
		u := urn.ByID(of, "vpc-0abc")
		message, err := lumi.Encode(&attachment{u})
		if err == nil {
			err = lumi.Decode(message, new(attachment))
		}
		if found := fmt.Sprint(err); found != cmp.Or(want, "<nil>") {
			t.Errorf("%s: error %q, want %q", of, found, want)
		}
	}
	refs := lumi.References{"urn:lumi:test::shop:index::aws:ec2:VPC::a": {ID: "vpc-1"}}
	if ref, ok := refs.Resolve(urn.ByID("aws:ec2:VPC", "vpc-0abc")); !ok || ref.ID != "vpc-0abc" || !ref.Properties.IsZero() {
		t.Errorf("Resolve of a reference by id = %v, %v, want its id, true", ref, ok)
	}
}
