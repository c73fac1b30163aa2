package lumigl_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// snapshotOf parses a snapshot of two resources of type t:m:T0. In a and b, A and B are replaced by their URNs.
func snapshotOf(t *testing.T, a, b string) *lumigl.Snapshot {
	t.Helper()
	src := `{"resources": {"A": {"type": "t:m:T0", ` + a + `}, "B": {"type": "t:m:T0", ` + b + `}}}`
	return must.Get(lumigl.ParseSnapshot(strings.NewReplacer(`"A"`, quoted(resourceURN(0)), `"B"`, quoted(resourceURN(3))).Replace(src)))(t)
}

func quoted[S ~string](s S) string { return `"` + string(s) + `"` }

func TestOptionDefaults(t *testing.T) {
	s := snapshotOf(t, `"properties": {}, "options": {"protect": false, "aliases": [], "timeouts": {}}`,
		`"properties": {}, "options": {"retainOnDelete": true, "dependsOn": []}`)
	a, b := s.Vertex(string(resourceURN(0))), s.Vertex(string(resourceURN(3)))
	if a.Options.Exists() || b.Options.Len() != 1 {
		t.Errorf("options = %v and %v, want none and one", a.Options, b.Options)
	}
	before := must.Get(lumigl.Append(nil, s))(t)
	a.Options = bag(pair("protect", lumigl.BoolOf(false)))
	b.Options = b.Options.With("ignoreChanges", lumigl.ListOf())
	after, err := lumigl.Append(nil, s)
	if err != nil || string(after) != string(before) {
		t.Errorf("Append with default options = %v\n%s\nwant\n%s", err, after, before)
	}
}

// The order of a replacement has three states: false is not the default.
func TestCreateBeforeDelete(t *testing.T) {
	s := snapshotOf(t, `"properties": {}, "options": {"deleteBeforeReplace": false}`, `"properties": {}`)
	again := must.Get(lumigl.ParseSnapshot(string(must.Get(lumigl.Append(nil, s))(t))))(t)
	for _, s := range []*lumigl.Snapshot{s, again} {
		a, b := s.Vertex(string(resourceURN(0))), s.Vertex(string(resourceURN(3)))
		if first, set := a.Options.Get("deleteBeforeReplace").Bool(); first || !set {
			t.Errorf("deleteBeforeReplace = %t, %t, want false, set", first, set)
		}
		if a.Options.Equal(b.Options) {
			t.Error("a resource with deleteBeforeReplace: false has the options of one without")
		}
	}
}

func TestDependsOn(t *testing.T) {
	s := snapshotOf(t, `"properties": {}`, `"properties": {}, "options": {"dependsOn": [{"#ref": "A"}]}`)
	a, b := s.Vertex(string(resourceURN(0))), s.Vertex(string(resourceURN(3)))
	x := lumigl.NewIndex(s.Base())
	if got := x.Dependents(a, false); len(got) != 1 || got[0] != b {
		t.Errorf("Dependents = %v, want %v", got, b)
	}
	c := s.Clone()
	if target, _, _ := c.Vertex(b.Key()).Options.Get("dependsOn").At(0).Target(); target != c.Vertex(a.Key()) {
		t.Error("the clone depends on a resource of the original")
	}
	must.Do(t, s.Rename(a, resourceURN(30)))
	text, err := lumigl.Append(nil, s)
	if err != nil || !strings.Contains(string(text), `{ "#ref": "`+string(resourceURN(30))+`" }`) {
		t.Errorf("Append after Rename = %v\n%s", err, text)
	}
	s.Remove(a.Key())
	expect(t, s.Check(), `no resource "`+a.Key()+`" (at /resources/`+b.Key()+`/options/dependsOn/0/#ref)`)
}

func TestBuiltOptions(t *testing.T) {
	s := snapshotOf(t, `"properties": {}`, `"properties": {}`)
	a, b := s.Vertex(string(resourceURN(0))), s.Vertex(string(resourceURN(3)))
	a.Options = lumigl.TextOf("protect")
	b.Options = bag(pair("dependsOn", lumigl.ListOf(lumigl.PropertyOf(a, "p"))), pair("import", lumigl.TextOf("\xff")), pair("protct", lumigl.BoolOf(true)))
	b.Source = "main.ts"
	b.Properties = bag(pair("e", bag(pair(wire.Signature, lumigl.TextOf(wire.Expression)), pair("get", lumigl.ReferenceTo(a)))))
	refused(t, s, strings.NewReplacer("A", a.Key(), "B", b.Key()).Replace(`"options" must be an object, not a string (at /resources/A/options)
"\xff" is not UTF-8 (at /resources/B/options/import)
"dependsOn" refers to whole resources; remove the "property" (at /resources/B/options/dependsOn/0)
unknown option "protct"; did you mean "protect"? (at /resources/B/options/protct)
"source" must be a path with slashes, a line and a column, such as "network/main.ts:12:9" (at /resources/B/source)
"get" needs a "path" (at /resources/B/properties/e)`))
}

func TestModuleOrder(t *testing.T) {
	const start = "urn:lumi:e::p:m::"
	want := []string{start + "lumi:index:Module::used", start + "a:m:T::x", start + "t:m:T::x", start + "lumi:index:Module::own"}
	s := &lumigl.Snapshot{}
	for _, i := range []int{3, 1, 0, 2} {
		must.Get(s.Add(urn.URN(want[i])))(t)
	}
	text := bag(pair("type", lumigl.TextOf("string")))
	s.Vertex(want[0]).Properties = bag(pair("uses", bag(pair("x", text))))
	s.Vertex(want[3]).Properties = bag(pair("provides", bag(pair("y", text.With("value", lumigl.TextOf("z"))))))
	must.Do(t, s.Sort())
	var got []string
	for v := range s.Vertices() {
		got = append(got, v.Key())
	}
	if !slices.Equal(got, want) {
		t.Errorf("order after Sort = %q, want %q", got, want)
	}
}

func TestBuiltModule(t *testing.T) {
	s := &lumigl.Snapshot{}
	m := must.Get(s.Add("urn:lumi:prod::network:index::lumi:index:Module::network"))(t)
	r := must.Get(s.Add(resourceURN(0)))(t)
	m.Properties = bag(pair("uses", bag(pair("vpcId", bag(pair("type", lumigl.TextOf("String")))))))
	r.Properties = bag(pair("vpc", lumigl.PropertyOf(m, "provides.vpcID")))
	refused(t, s, strings.NewReplacer("M", m.Key(), "R", r.Key()).Replace(`a type must be "bool", "number", "string", "any" or an object, not "String"; did you mean "string"? (at /resources/M/properties/uses/vpcId/type)
the module has no "vpcID" in "uses" or "provides"; did you mean "vpcId"? (at /resources/R/properties/vpc)`))
}
