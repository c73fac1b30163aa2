package graph_test

import (
	"testing"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/expr"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/test/kit/expect"
)

func TestPhysicalName(t *testing.T) {
	named := func(name lumigl.Value) lumigl.Value {
		return lumigl.ObjectOf(lumigl.Member{Key: "name", Value: name})
	}
	const u, inComponent urn.URN = "urn:lumi:dev::a:index::x:m:Disk::site", "urn:lumi:dev::a:index::x:m:Disk::web/site"
	site, other := named(lumigl.TextOf("site")), named(lumigl.TextOf("other"))
	unique := named(expr.UniqueName("site"))
	for _, test := range []struct {
		name     string
		r        graph.Resource
		physical lumigl.Value
		isAuto   bool
		inputs   lumigl.Value
	}{
		{"the default", graph.Resource{URN: u, Inputs: site, Checked: site}, site, true, site},
		{"the default in a component", graph.Resource{URN: inComponent, Inputs: site, Checked: site}, site, true, site},
		{"another", graph.Resource{URN: u, Inputs: other, Checked: other}, other, false, other},
		{"kept", graph.Resource{URN: u, Inputs: other, Checked: other, AutoName: true}, other, true, other},
		{"unique", graph.Resource{URN: u, Inputs: unique, Checked: other}, unique, false, other},
		{"after a failure", graph.Resource{URN: u, Checked: other, AutoName: true}, other, true, lumigl.Value{}},
		{"named by the provider", graph.Resource{URN: u, Label: "#1", Inputs: site, Checked: site}, site, false, site},
	} {
		t.Run(test.name, func(t *testing.T) {
			name, isAuto := test.r.PhysicalName()
			if !name.Equal(test.physical.Get("name")) || isAuto != test.isAuto {
				t.Errorf("PhysicalName() = %v, %t, want %v, %t", name, isAuto, test.physical.Get("name"), test.isAuto)
			}
			if inputs := test.r.NamedInputs(); !inputs.Equal(test.inputs) {
				t.Errorf("NamedInputs() = %v, want %v", inputs, test.inputs)
			}
		})
	}
}

// A state that was stored before names could be kept has no field for it.
func TestAutoNameStored(t *testing.T) {
	r := &graph.Resource{URN: "urn:lumi:dev::a:index::x:m:Disk::a", Deployment: 1, ID: "id"}
	expect.Equal(t, false, r.LumiGL().Get("autoname").Exists())
	r.AutoName = true
	for _, want := range []bool{true, false} {
		read, err := graph.ResourceFromLumiGL(r.LumiGL().With("autoname", map[bool]lumigl.Value{true: lumigl.BoolOf(true)}[want]))
		if err != nil || read.AutoName != want {
			t.Errorf("ResourceFromLumiGL() = %+v, %v, want AutoName = %t", read, err, want)
		}
	}
}
