package ec2_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/examples/aws/provider/ec2"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// The URNs of a network and of the security group that the tests are about.
const (
	network  urn.URN = "urn:lumi:test::aws:ec2::aws:ec2:VPC::main"
	firewall urn.URN = "urn:lumi:test::aws:ec2::aws:ec2:SecurityGroup::web"
)

// networks is what an engine tells a provider about the network.
var networks = lumi.References{network: {ID: "vpc-0abc"}}

// object is a bag of properties as a program would write it.
type object = map[string]any

func bag(t *testing.T, properties object) *structpb.Struct {
	t.Helper()
	made, err := structpb.NewStruct(properties)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// rules is a list of n rules that let the web in.
func rules(n int) []any {
	list := make([]any, n)
	for i := range list {
		list[i] = object{"ipProtocol": "tcp", "fromPort": 443.0, "toPort": 443.0, "cidrip": fmt.Sprintf("10.0.%d.0/24", i)}
	}
	return list
}

func web() object {
	return object{
		"name": "web", "groupDescription": "Web servers", "vpc": string(network), "securityGroupIngress": rules(1),
		"securityGroupEgress": []any{},
	}
}

// with returns a copy of some properties in which some are others. Nil takes one away.
func with(properties, others object) object {
	made := object{}
	for _, from := range []object{properties, others} {
		for name, value := range from {
			made[name] = value
			if value == nil {
				delete(made, name)
			}
		}
	}
	return made
}

func equal(t *testing.T, got *structpb.Struct, want object) {
	t.Helper()
	if diff := cmp.Diff(want, got.AsMap()); diff != "" {
		t.Errorf("other properties than expected (-want +got):\n%s", diff)
	}
}

// TestLife takes a group from nothing to nothing, as an engine would.
func TestLife(t *testing.T) {
	t.Parallel()
	var provider lumi.ResourceProvider = ec2.NewSecurityGroups(&ec2.Memory{})
	ctx := context.Background()

	checked, err := provider.Check(ctx, &lumi.CheckRequest{
		URN: firewall, Properties: bag(t, web()), References: networks,
	})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, checked.Properties, web())

	named, err := provider.Name(ctx, &lumi.NameRequest{URN: firewall, Properties: checked.Properties})
	if err != nil || named.Name != "web" {
		t.Fatalf("named %v, %v", named, err)
	}

	created, err := provider.Create(ctx, &lumi.CreateRequest{
		URN: firewall, Properties: checked.Properties, References: networks,
	})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, created.Properties, object{"groupID": string(created.ID)})
	now := with(web(), object{"groupID": string(created.ID)})

	changed := with(web(), object{"securityGroupIngress": rules(2)})
	inspected, err := provider.InspectChange(ctx, &lumi.InspectChangeRequest{
		URN: firewall, ID: created.ID, Old: bag(t, now), New: bag(t, changed), References: networks,
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(inspected.Replaces) > 0 || len(inspected.Changes) != 1 ||
		inspected.Changes[0].Path != "securityGroupIngress[1]" || inspected.Changes[0].Kind != lumi.Added {
		t.Errorf("one rule more is %+v", inspected)
	}

	if _, err := provider.Update(ctx, &lumi.UpdateRequest{
		URN: firewall, ID: created.ID, Old: bag(t, now), New: bag(t, changed), References: networks,
	}); err != nil {
		t.Fatal(err)
	}
	got, err := provider.Get(ctx, &lumi.GetRequest{ID: created.ID})
	if err != nil {
		t.Fatal(err)
	}
	now = with(changed, object{"groupID": string(created.ID)})
	equal(t, got.Properties, with(now, object{"vpc": nil}))

	for range 2 { // The second time the group is gone already, which is as good.
		if _, err := provider.Delete(ctx, &lumi.DeleteRequest{
			URN: firewall, ID: created.ID, Properties: bag(t, now), References: networks,
		}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := provider.Get(ctx, &lumi.GetRequest{ID: created.ID}); !errors.Is(err, lumi.ErrNotFound) {
		t.Errorf("reading what was deleted: %v", err)
	}
}

// TestCheckFillsIn shows what Amazon assumes of a group that does not say what may leave it.
func TestCheckFillsIn(t *testing.T) {
	t.Parallel()
	provider := ec2.NewSecurityGroups(&ec2.Memory{})
	checked, err := provider.Check(context.Background(), &lumi.CheckRequest{
		URN: firewall, Properties: bag(t, object{"name": "web", "groupDescription": "Web servers"}),
	})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, checked.Properties, object{
		"name": "web", "groupDescription": "Web servers",
		"securityGroupEgress": []any{object{"ipProtocol": "-1", "cidrip": "0.0.0.0/0"}},
	})
}

// TestCheckFindsFaults shows faults that types tell, and faults that only this provider can tell.
func TestCheckFindsFaults(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change object
		want   string
	}{
		"missing":  {object{"groupDescription": nil}, "groupDescription: is required, but missing"},
		"computed": {object{"groupID": "sg-1"}, "groupID: is set by the provider, not by a program"},
		"kind": {
			object{"securityGroupIngress": []any{object{"ipProtocol": "tcp", "fromPort": "80", "toPort": 80.0}}},
			"securityGroupIngress[0].fromPort: expected a number, found a string",
		},
		"ports missing": {
			object{"securityGroupIngress": []any{object{"ipProtocol": "udp", "toPort": 53.0}}},
			"securityGroupIngress[0].fromPort: is required where the protocol is udp",
		},
		"ports reversed": {
			object{"securityGroupEgress": []any{object{"ipProtocol": "tcp", "fromPort": 2.0, "toPort": 1.0}}},
			"securityGroupEgress[0]: the ports run from 2 down to 1",
		},
		"address": {
			object{"securityGroupIngress": []any{object{"ipProtocol": "-1", "cidrip": "10.0.0.0"}}},
			`securityGroupIngress[0].cidrip: "10.0.0.0" is no block of addresses such as 10.0.0.0/16`,
		},
		"several": {
			object{"vpc": true, "colour": "red"},
			"vpc: expected the URN of a resource, found a boolean\ncolour: no such property",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			provider := ec2.NewSecurityGroups(&ec2.Memory{})
			_, err := provider.Check(context.Background(), &lumi.CheckRequest{
				URN: firewall, Properties: bag(t, with(web(), test.change)), References: networks,
			})
			var invalid *lumi.InvalidError
			if !errors.As(err, &invalid) || invalid.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

// TestUnknown shows planning: a network that does not exist yet, and a port that depends on something else.
func TestUnknown(t *testing.T) {
	t.Parallel()
	provider := ec2.NewSecurityGroups(&ec2.Memory{})
	planned := with(web(), object{
		"vpc":                  lumi.UnknownValue,
		"securityGroupIngress": []any{object{"ipProtocol": "tcp", "fromPort": lumi.UnknownValue, "toPort": 443.0}},
	})
	checked, err := provider.Check(context.Background(), &lumi.CheckRequest{URN: firewall, Properties: bag(t, planned)})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, checked.Properties, planned)

	inspected, err := provider.InspectChange(context.Background(), &lumi.InspectChangeRequest{
		URN: firewall, ID: "sg-1", Old: bag(t, web()), New: checked.Properties, References: networks,
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]lumi.Path{"vpc"}, inspected.Replaces); diff != "" {
		t.Errorf("a network that may be another (-want +got):\n%s", diff)
	}

	if _, err := provider.Create(context.Background(), &lumi.CreateRequest{
		URN: firewall, Properties: checked.Properties,
	}); err == nil {
		t.Error("a group was created before everything was known about it")
	}
}

// TestReplace shows that a group is never changed where it has to be replaced.
func TestReplace(t *testing.T) {
	t.Parallel()
	provider := ec2.NewSecurityGroups(&ec2.Memory{})
	_, err := provider.Update(context.Background(), &lumi.UpdateRequest{
		URN: firewall, ID: "sg-1", Old: bag(t, web()), New: bag(t, with(web(), object{"groupDescription": "Others"})),
		References: networks,
	})
	var replace *lumi.ReplaceError
	if !errors.As(err, &replace) || !cmp.Equal(replace.Paths, []lumi.Path{"groupDescription"}) {
		t.Errorf("got %v", err)
	}
}

// TestHalf shows a group that Amazon creates and whose rules it then refuses. The engine learns what there is, so that
// it can be changed or deleted.
func TestHalf(t *testing.T) {
	t.Parallel()
	provider := ec2.NewSecurityGroups(&ec2.Memory{})
	_, err := provider.Create(context.Background(), &lumi.CreateRequest{
		URN: firewall, Properties: bag(t, with(web(), object{"securityGroupIngress": rules(61)})), References: networks,
	})
	var partial *lumi.PartialError
	if !errors.As(err, &partial) {
		t.Fatalf("got %v", err)
	}
	equal(t, partial.Properties, with(web(), object{
		"groupID": string(partial.ID), "securityGroupIngress": nil, "securityGroupEgress": nil,
	}))
	got, err := provider.Get(context.Background(), &lumi.GetRequest{ID: partial.ID})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, got.Properties, with(partial.Properties.AsMap(), object{"vpc": nil}))
}

// TestNoNetwork shows an engine that promises a network and has none.
func TestNoNetwork(t *testing.T) {
	t.Parallel()
	provider := ec2.NewSecurityGroups(&ec2.Memory{})
	_, err := provider.Create(context.Background(), &lumi.CreateRequest{URN: firewall, Properties: bag(t, web())})
	const want = "vpc: there is no network " + string(network)
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}
