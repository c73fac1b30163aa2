package plan_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// fakeProvisioner records the vertices that it is asked to provision. It fails the test if an input's old vertices
// differ from its record.
type fakeProvisioner struct {
	t     *testing.T
	name  string
	polls int // number of polls until a change is done
	calls []string
	have  map[string][]plan.Vertex // by module
	// changes maps tokens to the vertices of started changes, and polled to the number of polls.
	changes map[string][]plan.Vertex
	polled  map[string]int
}

func newFakeProvisioner(t *testing.T, name string, polls int) *fakeProvisioner {
	return &fakeProvisioner{
		t: t, name: name, polls: polls, have: map[string][]plan.Vertex{}, changes: map[string][]plan.Vertex{}, polled: map[string]int{},
	}
}

func (f *fakeProvisioner) Plan(context.Context, plan.Input) (d plan.Details, err error) {
	return d, nil
}

func (f *fakeProvisioner) Provision(_ context.Context, in plan.Input) (string, error) {
	f.calls = append(f.calls, in.String())
	module := f.moduleOf(in)
	if had := (plan.Input{New: in.New, Old: f.have[module]}).String(); had != in.String() {
		f.t.Errorf("%s: Provision(%s), want the old vertices of %s", f.name, in, had)
	}
	f.have[module] = in.New
	token := fmt.Sprintf("%s-change-%d", f.name, len(f.calls))
	f.changes[token] = in.New
	return token, nil
}

func (f *fakeProvisioner) Status(_ context.Context, token string) (plan.Status, error) {
	if f.polled[token]++; f.polled[token] < f.polls {
		return plan.Status{State: plan.Running}, nil
	}
	metadata := map[string]lumigl.Value{}
	for _, v := range f.changes[token] {
		if r := v.Resource; r != nil {
			name := module(r.URN) + "-" + nameOf(r.URN)
			metadata[r.Key()] = lumigl.ObjectOf(
				lumigl.Member{Key: "id", Value: lumigl.TextOf(name)},
				lumigl.Member{Key: "outputs", Value: lumigl.ObjectOf(
					lumigl.Member{Key: "address", Value: lumigl.TextOf(name + ".rds.example")})},
				lumigl.Member{Key: "stack", Value: lumigl.TextOf(module(r.URN))})
		}
	}
	return plan.Status{State: plan.Done, Metadata: metadata}, nil
}

// template returns a CloudFormation template for a module's databases.
func (f *fakeProvisioner) template(module string) string {
	resources := map[string]any{}
	for _, v := range f.have[module] {
		engine, _ := v.Resource.Checked.Get("engine").Text()
		resources[module+":"+nameOf(v.Resource.URN)] = map[string]any{
			"Type": "AWS::RDS::DBInstance", "Properties": map[string]string{"Engine": engine},
		}
	}
	text, err := json.MarshalIndent(map[string]any{"AWSTemplateFormatVersion": "2010-09-09", "Resources": resources}, "", "  ")
	if err != nil {
		f.t.Fatal(err)
	}
	return string(text) + "\n"
}

func (f *fakeProvisioner) moduleOf(in plan.Input) string {
	all := slices.Concat(in.New, in.Old)
	switch {
	case len(all) == 0:
		f.t.Fatalf("%s: empty input", f.name)
	case all[0].Resource != nil:
		return module(all[0].Resource.URN)
	}
	return all[0].Version.Module
}

func module(u urn.URN) string {
	parts, _ := u.Parts()
	return parts.Package
}

func nameOf(u urn.URN) string {
	parts, _ := u.Parts()
	return parts.Name
}

// databases is the provider in the case study. Its databases never change.
type databases struct{ plan.Provider }

func (databases) Describe(_ context.Context, types []tokens.Type) ([]plan.Description, error) {
	var all []plan.Description
	for _, t := range types {
		if t != "aws:rds:Database" {
			return nil, fmt.Errorf("nothing provides %s", t)
		}
		all = append(all, plan.Description{Type: t, Named: true, Replaces: []string{"engine", "name"}, Outputs: []string{"address"}})
	}
	return all, nil
}

func (databases) Check(_ context.Context, r plan.CheckRequest) (lumigl.Value, error) {
	return r.Properties, nil
}
