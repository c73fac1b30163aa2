package graph

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// These tests are in package graph, since they also cover graphs that no deployment produces.

var update = flag.Bool("update", false, "update golden files")

func parseValue(source string) lumigl.Value {
	g, err := lumigl.ParseGraph(`{"vertices": {}, "value": ` + source + `}`)
	if err != nil {
		panic(err)
	}
	return g.Field("value")
}

func refTo(u urn.URN, property string) lumigl.Value {
	v, err := lumigl.NewResource(u)
	if err != nil {
		panic(err)
	}
	return lumigl.PropertyOf(v, property)
}

// example returns an environment in which b::2 still uses a version of a that c::4 no longer uses.
func example() *Graph {
	const database, table = "urn:lumi:prod::a:index::aws:rds:Database::foodb", "urn:lumi:prod::a:index::aws:rds:Table::users"
	created := &Resource{
		URN: database, Deployment: 1, ID: "db-1", Label: "foodb", Seed: []byte{0x5e, 0xed}, Plugin: "1.2.0", Source: "a/main.ts:3:9",
		Inputs:  parseValue(`{"size": 10}`),
		Checked: parseValue(`{"size": 10}`),
		Outputs: parseValue(`{"endpoint": "db-1.example.com", "password": {"` + wire.Signature + `": "` + wire.Secret + `", "value": "hunter2"}}`),
	}
	replaced := *created
	replaced.Deployment, replaced.ID, replaced.Incarnation = 3, "db-3", 1
	replaced.Checked = parseValue(`{"size": 10, "zone": "a"}`)
	replaced.Options = parseValue(`{"protect": true}`)
	users := &Resource{
		URN: table, Deployment: 1, ID: "users", Inputs: object(field("database", refTo(database, ""))),
		Outputs: object(), Dependencies: []urn.URN{database}, Metadata: parseValue(`{"stack": "a-1"}`),
	}
	users.Checked = users.Inputs
	number, verb := Type{parseValue(`"number"`)}, Type{parseValue(`{"verb": {"request": "number", "response": "number"}}`)}
	id := func(module string, d Deployment) VersionID { return VersionID{module, d} }

	a1 := NewVersion(id("a", 1), []*Resource{created, users})
	a1.Provides = []Provided{{"foo", number, refTo(database, "size"), lumigl.IntOf(10)}}
	a1.Configuration = parseValue(`{"aws": {"region": "eu-central-1"}}`)
	a3 := NewVersion(id("a", 3), []*Resource{&replaced})
	a3.Provides = []Provided{{"foo", verb, lumigl.TextOf("https://a.example.com/foo"), lumigl.TextOf("https://a.example.com/foo")}}
	b2 := NewVersion(id("b", 2), nil)
	b2.Uses = []Edge{{To: a1.VersionID, Constraint: Constraint{"a", "foo", number, "value > 3"}}}
	b2.Provides = []Provided{{"bar", number, refTo("urn:lumi:prod::a:index::lumi:index:Module::a", "provides.foo"), lumigl.IntOf(10)}}
	c4 := NewVersion(id("c", 4), nil)
	c4.Uses = []Edge{
		{To: a3.VersionID, Constraint: Constraint{"a", "foo", verb, ""}},
		{To: b2.VersionID, Constraint: Constraint{"b", "bar", number, ""}, Broken: "bar is 10, and value < 5 is false"},
	}
	left := &Resource{URN: "urn:lumi:prod::a:index::aws:rds:Table::old", Deployment: 1, ID: "old", Inputs: object(field("database", refTo(database, "")))}
	return &Graph{
		Environment: "prod", Lineage: "8f2c",
		newest:   map[string]VersionID{"a": a3.VersionID, "b": b2.VersionID, "c": c4.VersionID},
		versions: map[string][]*Version{"a": {a1, a3}, "b": {b2}, "c": {c4}},
		pending:  map[string][]Pending{"a": {{Resource: left, Configuration: a1.Configuration}}},
	}
}

func TestLumiGLGolden(t *testing.T) {
	for name, doc := range map[string]lumigl.Document{"graph": example().LumiGL(), "snapshot": example().Snapshot()} {
		got, err := lumigl.Append(nil, doc)
		if err != nil {
			t.Fatal(err)
		}
		file := "testdata/lumigl/" + name + ".json"
		if *update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is out of date (run go test -update ./deploy/graph and review the diff); got:\n%s", file, got)
		}
	}
}

func TestLumiGLRoundTrip(t *testing.T) {
	for _, g := range []*Graph{{}, {Lineage: "8f2c"}, example()} {
		if got, want := dump(reread(t, g)), dump(g); got != want {
			t.Errorf("graph after a round trip =\n%s\nwant\n%s", got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		g := anyGraph(t)
		if got, want := dump(reread(t, g)), dump(g); got != want {
			t.Fatalf("graph after a round trip =\n%s\nwant\n%s", got, want)
		}
	})
}

func TestSnapshotIsValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := anyGraph(t)
		first, err := lumigl.Append(nil, g.Snapshot())
		if err != nil {
			t.Fatal(err)
		}
		again, err := lumigl.Append(nil, reread(t, g).Snapshot())
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first, again) {
			t.Fatalf("encodings of the same snapshot differ:\n%s\n%s", first, again)
		}
		if _, err := lumigl.ParseSnapshot(string(first)); err != nil {
			t.Fatal(err)
		}
	})
}

// reread encodes and decodes a graph, and checks that the result has the same encoding.
func reread(t interface{ Fatalf(string, ...any) }, g *Graph) *Graph {
	source, err := lumigl.Append(nil, g.LumiGL())
	if err != nil {
		t.Fatalf("encoding the graph: %v", err)
	}
	doc, err := lumigl.ParseGraph(string(source))
	if err != nil {
		t.Fatalf("ParseGraph: %v", err)
	}
	read, err := FromLumiGL(doc)
	if err != nil {
		t.Fatalf("FromLumiGL: %v\n%s", err, source)
	}
	return read
}

// dump formats all fields of a graph. Shared vertices are identified by numbers.
func dump(g *Graph) string {
	var out strings.Builder
	number := map[*Resource]int{}
	resource := func(r *Resource) {
		n, seen := number[r]
		if seen {
			fmt.Fprintf(&out, "    #%d\n", n)
			return
		}
		number[r] = len(number)
		fmt.Fprintf(&out, "    #%d %s %d %q %q %v %d %x %q %q\n", number[r], r.URN, r.Deployment, r.ID, r.Label, r.Dependencies,
			r.Incarnation, r.Seed, r.Plugin, r.Source)
		for _, v := range []lumigl.Value{r.Inputs, r.Checked, r.Outputs, r.Options, r.Metadata} {
			out.WriteString("      " + show(v) + "\n")
		}
	}
	fmt.Fprintf(&out, "%q %q\n", g.Environment, g.Lineage)
	for _, module := range g.Modules() {
		fmt.Fprintf(&out, "%s %v\n", module, g.newest[module])
		for _, v := range g.Versions(module) {
			fmt.Fprintf(&out, "  %s %t %s %s\n", v, v.Partial, show(v.Configuration), show(v.Config))
			for r := range v.Resources() {
				resource(r)
			}
			for _, u := range v.Uses {
				fmt.Fprintf(&out, "    uses %s %q %q %s %q %q\n", u.To, u.Module, u.Name, show(u.Type.Form), u.Where, u.Broken)
			}
			for _, p := range v.Provides {
				fmt.Fprintf(&out, "    provides %q %s %s %s\n", p.Name, show(p.Type.Form), show(p.Value), show(p.Result))
			}
		}
		for _, p := range g.Pending(module) {
			fmt.Fprintf(&out, "  pending %s %t\n", show(p.Configuration), p.Held)
			resource(p.Resource)
		}
	}
	return out.String()
}

// show formats a value with references converted to data, so that it does not depend on their vertices.
func show(v lumigl.Value) string {
	if !v.Exists() {
		return "absent"
	}
	data := v.Replace(func(part lumigl.Value) (lumigl.Value, bool) {
		to, property, ok := part.Target()
		if !ok {
			return part, false
		}
		return lumigl.TextOf("→ " + to.Key() + " " + property), true
	})
	source, err := lumigl.Append(nil, &lumigl.Graph{Fields: []lumigl.Member{field("value", data)}})
	if err != nil {
		panic(err)
	}
	return strings.Join(strings.Fields(string(source)), " ")
}

func moduleRef(module, name string) lumigl.Value {
	u, err := moduleURN("prod", module)
	if err != nil {
		panic(err)
	}
	return refTo(u, "provides."+name)
}

var anyForm = rapid.SampledFrom([]lumigl.Value{
	parseValue(`"number"`), parseValue(`{"resource": "a:b:C"}`), parseValue(`{"object": {"a": "string", "b?": {"list": "any"}}}`),
	parseValue(`{"verb": {"request": "number", "response": "any"}}`),
})

var anyText = rapid.SampledFrom([]string{"", "#ref", "property", "x y", "é\n", "urn:lumi:prod::a:index::t:m:T::0", wire.Unknown, "a::1"})

func anyValue(t *rapid.T, references []lumigl.Value, depth int) lumigl.Value {
	switch rapid.IntRange(0, 4+2*min(depth, 1)).Draw(t, "kind") {
	case 0:
		return lumigl.NullValue()
	case 1:
		return lumigl.BoolOf(rapid.Bool().Draw(t, "bool"))
	case 2:
		return lumigl.IntOf(rapid.Int64().Draw(t, "int"))
	case 3:
		return lumigl.TextOf(anyText.Draw(t, "text"))
	case 4:
		return rapid.SampledFrom(references).Draw(t, "reference")
	case 5:
		return lumigl.ListOf(anyValue(t, references, depth-1), anyValue(t, references, depth-1))
	default:
		return anyObject(t, references, depth-1)
	}
}

func anyObject(t *rapid.T, references []lumigl.Value, depth int) lumigl.Value {
	var members []lumigl.Member
	for _, key := range rapid.SliceOfNDistinct(anyText, 0, 3, rapid.ID).Draw(t, "keys") {
		members = append(members, field(key, anyValue(t, references, depth)))
	}
	return lumigl.ObjectOf(members...)
}

func anyBag(t *rapid.T, references []lumigl.Value) lumigl.Value {
	if rapid.Bool().Draw(t, "absent") {
		return lumigl.Value{}
	}
	return anyObject(t, references, 2)
}

// anyResource draws a resource that refers to resources with smaller numbers, which may not exist.
func anyResource(t *rapid.T, module string, number int, d Deployment) *Resource {
	name := func(n int) urn.URN { return urn.URN(fmt.Sprintf("urn:lumi:prod::%s:index::t:m:T::%d", module, n)) }
	r := &Resource{
		URN: name(number), Deployment: d, ID: anyText.Draw(t, "id"), Label: anyText.Draw(t, "label"),
		Incarnation: rapid.IntRange(0, 2).Draw(t, "incarnation"), Seed: rapid.SliceOfN(rapid.Byte(), 0, 3).Draw(t, "seed"),
		Plugin: anyText.Draw(t, "plugin"), Source: anyText.Draw(t, "source"),
	}
	references := []lumigl.Value{lumigl.NullValue()}
	for n := range number {
		references = append(references, refTo(name(n), ""), refTo(name(n), "arn"))
		if rapid.Bool().Draw(t, "depends") {
			r.Dependencies = append(r.Dependencies, name(n))
		}
	}
	r.Inputs, r.Checked, r.Outputs = anyBag(t, references), anyBag(t, references), anyBag(t, references)
	if rapid.Bool().Draw(t, "as given") {
		r.Checked = r.Inputs
	}
	r.Metadata = anyBag(t, references)
	switch {
	case rapid.Bool().Draw(t, "plain"):
	case number > 0:
		r.Options = object(field("dependsOn", lumigl.ListOf(references[1])), field("protect", lumigl.BoolOf(true)))
	default:
		r.Options = parseValue(`{"timeouts": {"create": "90s"}}`)
	}
	return r
}

// anyGraph draws a graph of up to three modules, which use only earlier modules. Versions of a module share resources.
func anyGraph(t *rapid.T) *Graph {
	g := &Graph{
		Environment: "prod", Lineage: anyText.Draw(t, "lineage"),
		newest: map[string]VersionID{}, versions: map[string][]*Version{}, pending: map[string][]Pending{},
	}
	var d Deployment
	var earlier []*Version
	names := []string{"bar", "foo"}
	for _, module := range []string{"a", "my/b", "c"} {
		latest := map[int]*Resource{}
		for range rapid.IntRange(0, 3).Draw(t, "versions") {
			d++
			var resources []*Resource
			for n := range 3 {
				switch rapid.IntRange(0, 2).Draw(t, "resource") {
				case 0:
					continue
				case 1:
					latest[n] = anyResource(t, module, n, d)
				}
				if latest[n] != nil {
					resources = append(resources, latest[n])
				}
			}
			v := NewVersion(VersionID{module, d}, resources)
			v.Partial = rapid.Bool().Draw(t, "partial")
			v.Configuration = anyBag(t, []lumigl.Value{lumigl.NullValue()})
			v.Config = anyBag(t, []lumigl.Value{lumigl.NullValue()})
			references := []lumigl.Value{moduleRef("a", "foo"), moduleRef("my/b", "bar")}
			for _, r := range resources {
				references = append(references, refTo(r.URN, ""))
			}
			for _, name := range names {
				if rapid.Bool().Draw(t, "provides") {
					p := Provided{Name: name, Type: Type{anyForm.Draw(t, "type")}, Value: anyValue(t, references, 2)}
					if rapid.Bool().Draw(t, "known") {
						p.Result = anyValue(t, references, 2)
					}
					v.Provides = append(v.Provides, p)
				}
				if len(earlier) > 0 && rapid.Bool().Draw(t, "uses") {
					to := rapid.SampledFrom(earlier).Draw(t, "to").VersionID
					c := Constraint{to.Module, name, Type{anyForm.Draw(t, "type")}, anyText.Draw(t, "where")}
					v.Uses = append(v.Uses, Edge{to, c, anyText.Draw(t, "broken")})
				}
			}
			slices.SortFunc(v.Uses, func(a, b Edge) int { return strings.Compare(a.Module+" "+a.Name, b.Module+" "+b.Name) })
			g.versions[module] = append(g.versions[module], v)
			if rapid.Bool().Draw(t, "newest") {
				g.newest[module] = v.VersionID
			}
		}
		earlier = append(earlier, g.versions[module]...)
		for n := range rapid.IntRange(0, 2).Draw(t, "pending") {
			d++
			p := Pending{anyResource(t, module, n, d), anyBag(t, []lumigl.Value{lumigl.NullValue()}), rapid.Bool().Draw(t, "held")}
			g.pending[module] = append(g.pending[module], p)
		}
	}
	return g
}
