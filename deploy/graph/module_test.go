package graph_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/test/kit/must"
)

const shop = `{
  "package": "my/shop",
  "config": { "replicas": 3, "note": null },
  "configuration": { "aws": { "region": "eu-central-1" } },
  "resources": {
    "urn:lumi:prod::my/net:index::lumi:index:Module::net": {
      "type": "lumi:index:Module",
      "properties": { "uses": {
        "vpc": { "type": { "resource": "aws:ec2:VPC" } },
        "cidr": { "type": "string", "where": "value != ''" }
      } }
    },
    "urn:lumi:prod::auth:index::lumi:index:Module::auth": {
      "type": "lumi:index:Module",
      "properties": { "uses": { "login": { "type": { "verb": { "request": "string", "response": "any" } } } } }
    },
    "urn:lumi:prod::my/shop:index::aws:s3:Bucket::logs": {
      "type": "aws:s3:Bucket",
      "properties": { "vpc": { "#ref": "urn:lumi:prod::my/net:index::lumi:index:Module::net", "property": "provides.vpc" } }
    },
    "urn:lumi:prod::my/shop:index::lumi:index:Module::shop": {
      "type": "lumi:index:Module",
      "properties": { "provides": {
        "size": { "type": "number", "value": 3 },
        "logs": { "type": "string", "value": { "#ref": "urn:lumi:prod::my/shop:index::aws:s3:Bucket::logs", "property": "arn" } }
      } }
    }
  }
}`

func TestModuleOf(t *testing.T) {
	desired := must.Get(lumigl.ParseSnapshot(shop))(t)
	m := must.Get(graph.ModuleOf(desired, "prod"))(t)
	var got []string
	for _, r := range m.Resources {
		got = append(got, "resource "+r.Key())
	}
	for _, p := range m.Provides {
		form, _ := p.Type.Form.Text()
		got = append(got, "provides "+p.Name+" "+form+" "+p.Value.Kind().String())
	}
	for _, u := range m.Uses {
		form, _ := u.Type.Form.Text()
		got = append(got, "uses "+u.Module+" "+u.Name+" "+form+" "+u.Where)
	}
	want := []string{
		"resource urn:lumi:prod::my/shop:index::aws:s3:Bucket::logs",
		"provides logs string a reference",
		"provides size number a number",
		"uses auth login  ",
		"uses my/net cidr string value != ''",
		"uses my/net vpc  ",
	}
	if !slices.Equal(got, want) {
		t.Errorf("ModuleOf() =\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if replicas, _ := m.Config.Get("replicas").Int(); replicas != 3 || m.Config.Len() != 1 {
		t.Errorf("ModuleOf() has %d values of configuration and %d replicas, want one with 3", m.Config.Len(), replicas)
	}
	region, _ := m.Configuration.Get("aws").Get("region").Text()
	if m.Name != "my/shop" || region != "eu-central-1" {
		t.Errorf("ModuleOf() = module %q with region %q, want %q with region %q", m.Name, region, "my/shop", "eu-central-1")
	}
}

func TestModuleOfOrder(t *testing.T) {
	desired := &lumigl.Snapshot{}
	second, _ := desired.Add("urn:lumi:prod::a:index::aws:s3:Bucket::one")
	first, _ := desired.Add("urn:lumi:prod::a:index::aws:s3:Bucket::two")
	second.Properties = lumigl.ObjectOf(lumigl.Member{Key: "to", Value: lumigl.ReferenceTo(first)})
	m := must.Get(graph.ModuleOf(desired, "prod"))(t)
	if !slices.Equal(m.Resources, []*lumigl.Vertex{first, second}) {
		t.Errorf("ModuleOf().Resources: %s precedes its dependency %s", m.Resources[0].Key(), m.Resources[1].Key())
	}
}

func TestModuleOfNoResources(t *testing.T) {
	for _, header := range []string{"my/cluster", "my/cluster#*"} {
		m, err := graph.ModuleOf(&lumigl.Snapshot{Package: header}, "prod")
		if err != nil || m.Name != "my/cluster" {
			t.Errorf("ModuleOf(package %q) = %v, %v, want module my/cluster", header, m, err)
		}
	}
}

func TestSetModel(t *testing.T) {
	const resource = `"urn:lumi:prod::my/shop:index::aws:s3:Bucket::logs": {"type": "aws:s3:Bucket", "properties": {}}`
	for text, provided := range map[string][]string{shop: {"1st", "logs", "size"}, `{"package": "my/shop", "resources": {` + resource + `}}`: {"1st"}} {
		desired := must.Get(lumigl.ParseSnapshot(text))(t)
		logs := desired.Vertex("urn:lumi:prod::my/shop:index::aws:s3:Bucket::logs")
		arn := lumigl.PropertyOf(logs, "arn")
		must.Do(t, graph.SetModel(desired, "prod", lumigl.ObjectOf(lumigl.Member{Key: "arn", Value: arn})))
		file, err := lumigl.Append(nil, desired) // as stored
		if err == nil {
			desired, err = lumigl.ParseSnapshot(string(file))
		}
		if err != nil {
			t.Fatal(err)
		}
		m := must.Get(graph.ModuleOf(desired, "prod"))(t)
		v := m.Version(1, nil)
		// A name may also sort before the name of the model.
		v.Provides = append([]graph.Provided{{Name: "1st"}}, m.Provides...)
		var got []string
		for _, p := range v.Outputs() {
			got = append(got, p.Name)
		}
		target, property, _ := v.Provided(graph.ModelName).Value.Get("arn").Target()
		if !slices.Equal(got, provided) || target == nil || target.URN() != logs.URN() || property != "arn" {
			t.Errorf("version with a model: outputs %v, model reference %v.%s, want %v, %v.arn", got, target, property, provided, logs)
		}
	}
	if err := graph.SetModel(&lumigl.Snapshot{Package: "My Shop"}, "prod", lumigl.ObjectOf()); err == nil {
		t.Error(`SetModel(package "My Shop") = nil, want an error`)
	}
}

func TestModuleOfErrors(t *testing.T) {
	tests := []struct {
		name, resources string
		want            []string
	}{
		{"nothing", ``, []string{`"package" must be the name of the module, got ""`}},
		{
			"only uses", `"urn:lumi:prod::b:index::lumi:index:Module::b": { "type": "lumi:index:Module", "properties": { "uses": {} } }`,
			[]string{`"package" must be the name of the module, got ""`},
		},
		{
			"another environment", `"urn:lumi:dev::a:index::x:y:Z::one": { "type": "x:y:Z", "source": "main.ts:3:9", "properties": {} }`,
			[]string{"urn:lumi:dev::a:index::x:y:Z::one (main.ts:3:9) belongs to environment dev; evaluate the program for prod"},
		},
		{
			"everything", `
			"urn:lumi:prod::a:index::x:y:Z::one": { "type": "x:y:Z", "properties": {} },
			"urn:lumi:prod::b:index::x:y:Z::two": { "type": "x:y:Z", "source": "b.ts:1:1", "properties": {} },
			"urn:lumi:prod::b:index::lumi:index:Module::b": { "type": "lumi:index:Module", "properties": { "provides": {} } }`,
			[]string{
				"urn:lumi:prod::b:index::x:y:Z::two (b.ts:1:1) belongs to module b, not a; deploy each module separately",
				"urn:lumi:prod::b:index::lumi:index:Module::b belongs to module b, not a; deploy each module separately",
			},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			desired := must.Get(lumigl.ParseSnapshot(`{"resources": {` + test.resources + `}}`))(t)
			expectRefused(t, desired, test.want)
		})
	}
	t.Run("package", func(t *testing.T) {
		expectRefused(t, &lumigl.Snapshot{Package: "My Shop"}, []string{`"package" must be the name of the module, got "My Shop"`})
	})
}

func expectRefused(t *testing.T, desired *lumigl.Snapshot, want []string) {
	t.Helper()
	m, err := graph.ModuleOf(desired, "prod")
	var refused *graph.RefusedError
	if !errors.As(err, &refused) {
		t.Fatalf("ModuleOf() = %v, %v, want a *RefusedError", m, err)
	}
	if !slices.Equal(refused.Problems, want) {
		t.Errorf("ModuleOf() problems:\n%s\nwant\n%s", strings.Join(refused.Problems, "\n"), strings.Join(want, "\n"))
	}
}
