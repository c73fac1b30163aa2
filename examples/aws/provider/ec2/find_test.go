package ec2_test

import (
	"context"
	"errors"
	"testing"

	"github.com/lumi-idl/lumi/examples/aws/provider/ec2"
	"github.com/lumi-idl/lumi/examples/aws/provider/test/ec2server"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// After a lost response to Create, Find returns the resource created with the same URN and token.
func TestFind(t *testing.T) {
	t.Parallel()
	server, _ := start(t)
	server.Lag = 1
	resources := resources(t, server)
	const (
		odd    = `no \wild*card?`
		module = "urn:lumi:test::p:index::"
	)
	refs := lumi.References{}
	for _, test := range []struct {
		typ        tokens.Type
		action     string
		properties bag
	}{
		{ec2.VPC, "CreateVpc", bag{"name": odd, "cidrBlock": "10.0.0.0/16"}},
		{ec2.Subnet, "CreateSubnet", bag{"name": odd, "vpc": module + "aws:ec2:VPC::" + odd, "cidrBlock": "10.0.0.0/24"}},
		{ec2.SecurityGroup, "CreateSecurityGroup", bag{
			"name": "web", "groupDescription": "[*]", "vpc": module + "aws:ec2:VPC::" + odd,
		}},
	} {
		p := resources[test.typ]
		u := urn.URN(module + string(test.typ) + "::" + test.properties["name"].(string))
		request := &lumi.CreateRequest{URN: u, Properties: encode(t, test.properties), Token: "one", References: refs}
		find := func(u urn.URN, token string) (lumi.ID, error) {
			found, err := p.Find(t.Context(), &lumi.FindRequest{
				URN: u, Properties: request.Properties, Token: token, References: refs,
			})
			if err != nil {
				return "", err
			}
			return found.ID, nil
		}
		server.Fail(test.action, ec2server.Throttled, ec2server.Lost)
		if _, err := p.Create(t.Context(), request); !errors.As(err, new(*lumi.RetryError)) {
			t.Errorf("Create with throttled %s = %v, want a RetryError", test.action, err)
		}
		before := len(server.Left())
		if _, err := p.Create(t.Context(), request); !errors.As(err, new(*lumi.UncertainError)) {
			t.Errorf("Create with lost response to %s = %v, want an UncertainError", test.action, err)
		}
		id, err := find(u, "one")
		if err != nil || len(server.Left()) != before+1 || server.Tags(string(id))["lumi:urn"] == "" {
			t.Fatalf("Find after %s = %s, %v, want the new one of %v", test.action, id, err, server.Left())
		}
		for _, other := range []struct {
			u     urn.URN
			token string
		}{{u, "two"}, {u + "2", "one"}} {
			if id, err := find(other.u, other.token); !errors.Is(err, lumi.ErrNotFound) {
				t.Errorf("Find(%s, token %s) after %s = %s, %v, want %v", other.u, other.token, test.action, id, err, lumi.ErrNotFound)
			}
		}
		got := must.Get(p.Get(t.Context(), &lumi.GetRequest{ID: id, Purpose: lumi.Import}))(t)
		refs[u] = lumi.Reference{ID: id, Properties: got.Properties}
		t.Cleanup(func() {
			request := &lumi.DeleteRequest{URN: u, ID: id, Properties: got.Properties}
			if _, err := p.Delete(context.Background(), request); err != nil {
				t.Error(err)
			}
		})
	}
}

// Get takes the notation of protocols from the old state. It refers to the VPC by id, without further requests.
func TestRefresh(t *testing.T) {
	t.Parallel()
	server, h := start(t)
	vpc := network(t, h)
	group := h.Resource(ec2.SecurityGroup, "web")
	group.MayDiffer("securityGroupIngress") // an import returns protocols by name
	rules := []any{tcp(443).With(bag{"ipProtocol": "6"}), tcp(80)}
	group.Create(t, bag{"name": "web", "groupDescription": "Web", "vpc": vpc, "securityGroupIngress": rules})
	old := encode(t, bag{
		"name": "web", "groupDescription": "Web", "vpc": string(vpc.URN()), "securityGroupIngress": rules,
		"securityGroupEgress": []any{tcp(1)}, "groupID": string(group.ID()),
	})
	provider := resources(t, server)[ec2.SecurityGroup]
	server.Calls()
	got := must.Get(provider.Get(t.Context(), &lumi.GetRequest{
		URN: group.URN(), ID: group.ID(), Purpose: lumi.Refresh, Old: old,
	}))(t)
	want := string(urn.ByID(ec2.VPC, string(vpc.ID())))
	if n := count(server, "DescribeVpcs"); n != 0 || got.Properties.Get("vpc") != want {
		t.Errorf("Get = VPC %[2]v after %[1]d DescribeVpcs requests, want %[3]s after 0", n, got.Properties.Get("vpc"), want)
	}
	properties := must.Get(provider.Describe(t.Context()))(t).Properties
	if diff := lumi.CompareAs(properties, old, got.Properties); diff.Changed("securityGroupIngress") || !diff.Changed("securityGroupEgress") {
		t.Errorf("Get changed properties, want only securityGroupEgress changed:\n%s", diff)
	}
	group.Delete(t)
	vpc.Delete(t)
}

func TestReplacement(t *testing.T) {
	t.Parallel()
	resources := resources(t, ec2server.New("us-west-2", keyID))
	const vpc, other = "urn:lumi:test::p:index::aws:ec2:VPC::a", "urn:lumi:test::p:index::aws:ec2:VPC::b"
	subnet := bag{"name": "a", "vpc": vpc, "cidrBlock": "10.0.0.0/24", "availabilityZone": "us-west-2a"}
	group := bag{"name": "web", "groupDescription": "Web", "vpc": vpc}
	for name, test := range map[string]struct {
		typ         tokens.Type
		old, set    bag
		deleteFirst bool
		replaces    int
	}{
		"zone":            {ec2.Subnet, subnet, bag{"availabilityZone": "us-west-2b"}, true, 1},
		"no zone":         {ec2.Subnet, subnet, bag{"availabilityZone": nil}, true, 0},
		"zone and name":   {ec2.Subnet, subnet, bag{"availabilityZone": nil, "name": "b"}, true, 1},
		"smaller block":   {ec2.Subnet, subnet, bag{"cidrBlock": "10.0.0.0/25"}, true, 1},
		"another block":   {ec2.Subnet, subnet, bag{"cidrBlock": "10.0.1.0/24"}, false, 1},
		"another VPC":     {ec2.Subnet, subnet, bag{"vpc": other}, false, 1},
		"description":     {ec2.SecurityGroup, group, bag{"groupDescription": "Others"}, true, 1},
		"name of a group": {ec2.SecurityGroup, group, bag{"name": "b"}, false, 1},
		"VPC of a group":  {ec2.SecurityGroup, group, bag{"vpc": other}, false, 1},
		"VPC tenancy":     {ec2.VPC, bag{"name": "a", "cidrBlock": "10.0.0.0/16"}, bag{"instanceTenancy": "dedicated"}, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resp := must.Get(resources[test.typ].InspectChange(t.Context(), &lumi.InspectChangeRequest{
				URN: urn.URN("urn:lumi:test::p:index::" + string(test.typ) + "::a"), ID: "x-1",
				Old: encode(t, test.old), New: encode(t, test.old.With(test.set)),
			}))(t)
			if resp.DeleteBeforeReplace != test.deleteFirst || len(resp.Replaces) != test.replaces {
				t.Errorf("InspectChange = %+v, want DeleteBeforeReplace %t and %d replacing properties", resp, test.deleteFirst, test.replaces)
			}
		})
	}
}
