package state_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/deploy/state"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/store/memory"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/test/kit/must"
)

var (
	prod  = store.Environment{Name: "prod", Lineage: "8f2c"}
	key   = secret.NewKey()
	codec = state.Codec{Key: key}
)

// table maps the keys of an environment's rows to their texts.
type table map[string]string

// apply updates the rows with the changes from before to after.
func (rows table) apply(t rapid.TB, before, after *graph.Graph) {
	t.Helper()
	put, gone, err := codec.Changes(before, after)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range gone {
		if _, found := rows[key]; !found {
			t.Fatalf("Changes removes the row %s, which does not exist", key)
		}
		delete(rows, key)
	}
	if !slices.IsSortedFunc(put, func(a, b store.Vertex) int { return strings.Compare(a.Key, b.Key) }) {
		t.Fatalf("Changes returned unsorted rows %v", put)
	}
	for _, v := range put {
		rows[v.Key] = v.Text
	}
}

func (rows table) vertices() []store.Vertex {
	var all []store.Vertex
	for _, key := range slices.Sorted(maps.Keys(rows)) {
		all = append(all, store.Vertex{Key: key, Text: rows[key]})
	}
	return all
}

func textOf(doc lumigl.Document) string { return string(must.Value(lumigl.Append(nil, doc))) }

// After each random transition, the rows match the graph.
func TestRowsFollowTheGraph(t *testing.T) {
	t.Parallel()
	empty := &graph.Graph{Environment: prod.Name, Lineage: prod.Lineage}
	rapid.Check(t, func(t *rapid.T) {
		g, rows := empty, table{}
		for d := range rapid.IntRange(1, 6).Draw(t, "transitions") {
			after := nextGraph(t, g, graph.Deployment(d+1))
			rows.apply(t, g, after)
			if put, gone, err := codec.Changes(after, after); len(put)+len(gone) > 0 || err != nil {
				t.Fatalf("Changes of an unchanged graph = %v, %v, %v, want none", put, gone, err)
			}
			want, all := textOf(after.LumiGL()), table{}
			if all.apply(t, empty, after); !slices.Equal(slices.Sorted(maps.Keys(rows)), slices.Sorted(maps.Keys(all))) {
				t.Fatalf("keys of rows = %v, want %v", slices.Sorted(maps.Keys(rows)), slices.Sorted(maps.Keys(all)))
			}
			read, err := codec.Graph(prod, rows.vertices())
			if err != nil {
				t.Fatalf("Graph: %v for the rows\n%s", err, rows.vertices())
			}
			if got := textOf(read.LumiGL()); got != want {
				t.Fatalf("decoded graph differs (-want +got):\n%s\nrows:\n%s", cmp.Diff(want, got), rows.vertices())
			}
			checkOutline(t, after, rows.vertices())
			if stored := fmt.Sprint(rows); strings.Contains(stored, plain) {
				t.Fatalf("rows contain a secret in plain text:\n%s", stored)
			}
			hidden := textOf(must.Value(state.Codec{}.Graph(prod, rows.vertices())).LumiGL())
			if strings.Contains(hidden, plain) || strings.Contains(hidden, "sealed:") {
				t.Fatalf("graph decoded without the key contains a secret:\n%s", hidden)
			}
			if _, err := (state.Codec{Key: secret.NewKey()}).Graph(prod, rows.vertices()); strings.Contains(want, plain) {
				if wrong := (*secret.KeyError)(nil); !errors.As(err, &wrong) {
					t.Fatalf("Graph with another key: error %v, want a *secret.KeyError", err)
				}
			}
			if g = after; rapid.Bool().Draw(t, "restart") {
				g = read
			}
		}
	})
}

// checkOutline checks that the outline has the same versions, provided values, and uses as the graph, and that
// [state.URN] returns the URNs of all rows.
func checkOutline(t rapid.TB, g *graph.Graph, rows []store.Vertex) {
	byKey := map[string]store.Vertex{}
	for _, row := range rows {
		byKey[row.Key] = row
	}
	for v := range g.LumiGL().Vertices() {
		want, _ := v.Properties.Get("urn").Text()
		if got := state.URN(byKey[v.Key()]); byKey[v.Key()].Key != "" && got != urn.URN(want) {
			t.Fatalf("URN of row %s = %q, want %q", v.Key(), got, want)
		}
	}
	outline, read := outlineOf(t, rows)
	few := 1 // the root, and each module's versions, first resource, and pending resources
	for _, module := range g.Modules() {
		few += 1 + len(g.Versions(module)) + len(g.Pending(module))
		for _, b := range g.Beside(module) {
			few += len(b.Resources)
		}
	}
	if read > few {
		t.Fatalf("Outline of %d rows read %d, want at most %d", len(rows), read, few)
	}
	for _, module := range g.Modules() {
		for _, v := range g.Versions(module) {
			got := outline.Version(v.VersionID)
			if got == nil || got.Len() != v.Len() || got.Partial != v.Partial || fmt.Sprint(got.Uses) != fmt.Sprint(v.Uses) || !slices.EqualFunc(got.Provides, v.Provides,
				func(a, b graph.Provided) bool { return a.Name == b.Name && a.Result.Equal(b.Result) }) {
				t.Fatalf("version in the outline = %+v, want %+v", got, v)
			}
		}
		sameBeside := func(a, b graph.Beside) bool {
			return a.String() == b.String() && slices.Equal(a.Users, b.Users) && slices.EqualFunc(a.Resources, b.Resources,
				func(a, b *graph.Resource) bool { return a.LumiGL().Equal(b.LumiGL()) })
		}
		if got, want := outline.Beside(module), g.Beside(module); !slices.EqualFunc(got, want, sameBeside) {
			t.Fatalf("Beside(%s) of the outline = %v, want %v", module, got, want)
		}
		if got, want := outline.Newest(module), g.Newest(module); (got == nil) != (want == nil) {
			t.Fatalf("Newest(%s) of the outline = %v, want %v", module, got, want)
		}
		samePending := func(a, b graph.Pending) bool {
			return a.Resource.LumiGL().Equal(b.Resource.LumiGL()) && a.Configuration.Equal(b.Configuration)
		}
		if got, want := outline.Pending(module), g.Pending(module); !slices.EqualFunc(got, want, samePending) {
			t.Fatalf("Pending(%s) of the outline = %v, want %v", module, got, want)
		}
	}
	if got, want := outline.Modules(), g.Modules(); !slices.Equal(got, want) {
		t.Fatalf("Modules() of the outline = %v, want %v", got, want)
	}
}

func outlineOf(t rapid.TB, rows []store.Vertex) (g *graph.Graph, read int) {
	t.Helper()
	s := memory.New()
	must.Do(t, s.Write(context.Background(), prod.Name, func(tx store.Tx) error {
		return errors.Join(tx.PutEnvironment(prod), tx.PutVertices(prod.Name, rows, nil))
	}))
	must.Do(t, s.Read(context.Background(), func(tx store.Tx) (err error) {
		counting := &countingTx{Tx: tx}
		g, err = codec.Outline(counting, prod)
		read = counting.read
		return err
	}))
	return g, read
}

// countingTx counts the vertices that are read.
type countingTx struct {
	store.Tx
	read int
}

func (c *countingTx) Vertices(environment string) ([]store.Vertex, error) {
	return c.VerticesFrom(environment, "", math.MaxInt)
}

func (c *countingTx) VerticesFrom(environment, from string, limit int) ([]store.Vertex, error) {
	rows, err := c.Tx.VerticesFrom(environment, from, limit)
	c.read += len(rows)
	return rows, err
}

func TestOutline(t *testing.T) {
	t.Parallel()
	r := &graph.Resource{URN: urnOf("a", 1), Deployment: 1, ID: "id", Inputs: object(), Checked: object()}
	v := graph.NewVersion(graph.VersionID{Module: "a", Deployment: 1}, []*graph.Resource{r})
	looks := lumigl.ListOf(lumigl.TextOf(`"resources":[{"x\":[{`), object(field("resources", lumigl.ListOf(object(field("resources", object()))))))
	v.Configuration = object(field("resources", looks))
	tricky := must.Value((&graph.Graph{Environment: "prod"}).Deploy(graph.Update{Version: v})).Graph
	for _, g := range []*graph.Graph{tricky, example(), {}} {
		put, _, err := codec.Changes(&graph.Graph{}, g)
		if err != nil {
			t.Fatal(err)
		}
		checkOutline(t, g, put)
	}
}

// example returns an environment with secrets in a resource, a provided value, and the configurations of a version and
// a pending resource.
func example() *graph.Graph {
	password := object(field("password", secretOf(lumigl.ListOf(lumigl.TextOf(plain), refTo(urnOf("a", 0), "arn")))))
	r := &graph.Resource{
		URN: urnOf("a", 1), Deployment: 1, ID: "id", Inputs: password, Checked: password, Outputs: password, Options: object(),
		Dependencies: []urn.URN{urnOf("a", 0)}, Metadata: password, Seed: []byte{1},
	}
	v := graph.NewVersion(graph.VersionID{Module: "a", Deployment: 1}, []*graph.Resource{r})
	v.Configuration = object(field("t", password))
	v.Provides = []graph.Provided{{Name: "foo", Type: number, Value: password, Result: password}}
	g := must.Value((&graph.Graph{Environment: "prod", Lineage: "8f2c"}).Deploy(graph.Update{Version: v})).Graph
	left := *r
	left.ID = "left"
	return g.Leave("a", graph.Pending{Resource: &left, Configuration: v.Configuration})
}

func TestRows(t *testing.T) {
	t.Parallel()
	g, rows := example(), table{}
	rows.apply(t, &graph.Graph{}, g)
	if got, want := slices.Sorted(maps.Keys(rows)), []string{"a::1", "a:t:m:T::r1:1", "a:t:m:T::r1:1:left", "root"}; !slices.Equal(got, want) {
		t.Fatalf("keys of rows = %q, want %q", got, want)
	}
	for key, text := range rows {
		if strings.Contains(text, plain) || !strings.Contains(text, "sealed:1:") {
			t.Errorf("row %s contains an unsealed secret: %s", key, text)
		}
	}
	if read, err := codec.Graph(prod, nil); err != nil || textOf(read.LumiGL()) != textOf((&graph.Graph{Environment: "prod", Lineage: "8f2c"}).LumiGL()) {
		t.Errorf("Graph without rows = %v, %v, want the empty graph", read, err)
	}
	rows.apply(t, g, &graph.Graph{})
	if len(rows) > 0 {
		t.Errorf("rows after a change to an empty graph = %v, want none", rows)
	}
	if _, _, err := (state.Codec{}).Changes(&graph.Graph{}, g); !isKeyError(err) {
		t.Errorf("Changes without a key: error %v, want a *secret.KeyError", err)
	}
}

func isKeyError(err error) bool {
	missing := (*secret.KeyError)(nil)
	return errors.As(err, &missing)
}

func TestGraphDamagedRows(t *testing.T) {
	t.Parallel()
	const db, left, version = "a:t:m:T::r1:1", "a:t:m:T::r1:1:left", "a::1"
	for _, test := range []struct {
		name   string
		damage func(table)
		want   string
	}{
		{"cut off", func(r table) { r[db] = r[db][:20] }, db + ": 1:8: unterminated string"},
		{"two in one", func(r table) { r[version] += ", {}" }, version + ": 1:"},
		{"one over two", func(r table) { r[db], r[left] = `{"a": [{}`, `{}]}` }, db + ": 1:10: "},
		{"no object", func(r table) { r[left] = "[]" }, left + ": expected an object, got a list"},
		{"nothing", func(r table) { r[left] = "" }, left + ": "},
		{"moved", func(r table) { r[left] = r[db] }, left + `: the secret at "/inputs/password" is damaged, or was sealed for another resource or property`},
		{"moved inside", func(r table) { r[db] = strings.NewReplacer("inputs", "outputs", "outputs", "inputs").Replace(r[db]) },
			db + `: the secret at "/outputs/password" is damaged, or was sealed for another resource or property`},
		{"without a root", func(r table) { delete(r, "root") }, "root is missing"},
		{"without a resource", func(r table) { delete(r, db) }, version + ".resources[0] must be a reference to a resource"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			rows := table{}
			rows.apply(t, &graph.Graph{}, example())
			test.damage(rows)
			if _, err := codec.Graph(prod, rows.vertices()); err == nil || !strings.HasPrefix(err.Error(), test.want) || isKeyError(err) {
				t.Errorf("Graph error = %v, want prefix %s", err, test.want)
			}
		})
	}
	twice := []store.Vertex{{Key: "root", Text: "{}"}, {Key: "root", Text: "{}"}}
	if _, err := codec.Graph(prod, twice); err == nil || err.Error() != `vertex "root" already exists` {
		t.Errorf("Graph with a duplicate key: error %v, want that the vertex already exists", err)
	}
}

func TestResources(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var want, texts []string
		for n := range rapid.IntRange(0, 3).Draw(t, "resources") {
			r := anyResource(t, "a", n, 1, "id")
			want, texts = append(want, textOf(vertexOf(r.LumiGL()))), append(texts, must.Value(codec.Resource(r)))
			if strings.Contains(texts[n], plain) {
				t.Fatalf("Resource() contains a secret in plain text: %s", texts[n])
			}
		}
		var got []string
		for _, r := range must.Value(codec.Resources(texts)) {
			got = append(got, textOf(vertexOf(r.LumiGL())))
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("decoded resources differ (-want +got):\n%s", d)
		}
	})
	r := example().Version(graph.VersionID{Module: "a", Deployment: 1}).Resource(urnOf("a", 1))
	text := must.Value(codec.Resource(r))
	if hidden := must.Value(state.Codec{}.Resources([]string{text})); !hidden[0].Inputs.Get("password").Get("value").IsUnknown() {
		t.Errorf("inputs decoded without the key = %v, want an unknown password", hidden[0].Inputs)
	}
	if _, err := (state.Codec{}).Resource(r); !isKeyError(err) {
		t.Errorf("Resource without a key: error %v, want a *secret.KeyError", err)
	}
	for bad, want := range map[string]string{
		"{":                                  "resource 1: 1:2: ",
		"{}":                                 "resource 1: resource.urn must be a resource URN",
		strings.Replace(text, "r1", "r2", 1): string(urnOf("a", 2)) + `: the secret at "/inputs/password" is damaged, or was sealed for another resource or property`,
	} {
		if _, err := codec.Resources([]string{text, bad}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("Resources(%s) error = %v, want prefix %s", bad, err, want)
		}
	}
}

// Equal checked properties and inputs are stored only once. Text that contains both can also be decoded.
func TestCheckedInputs(t *testing.T) {
	t.Parallel()
	r := example().Version(graph.VersionID{Module: "a", Deployment: 1}).Resource(urnOf("a", 1))
	plainly := *r
	plainly.Inputs = object(field("size", lumigl.IntOf(3)))
	plainly.Checked = plainly.Inputs
	text := must.Value(codec.Resource(&plainly))
	for r, text := range map[*graph.Resource]string{
		r: must.Value(codec.Resource(r)), &plainly: text,
	} {
		if read := must.Value(codec.Resources([]string{text}))[0]; !strings.Contains(text, `"checked":true`) || !read.Checked.Equal(r.Checked) {
			t.Errorf("Checked = %v, want %v, decoded from %s", read.Checked, r.Checked, text)
		}
	}
	twice := strings.Replace(text, `"checked":true`, `"checked":{"size":3}`, 1)
	if read := must.Value(codec.Resources([]string{twice}))[0]; !read.Checked.Equal(plainly.Checked) {
		t.Errorf("Checked = %v, want %v, decoded from %s", read.Checked, plainly.Checked, twice)
	}
	plainly.Inputs = object(field("content", lumigl.TextOf("long text")), field("size", lumigl.IntOf(3)))
	plainly.Checked = object(field("content", lumigl.TextOf("long text")), field("mode", lumigl.TextOf("644")), field("size", lumigl.IntOf(4)))
	text = must.Value(codec.Resource(&plainly))
	if read := must.Value(codec.Resources([]string{text}))[0]; strings.Count(text, "long text") != 1 || !read.Checked.Equal(plainly.Checked) {
		t.Errorf("Checked with a default = %v, want %v, decoded from %s", read.Checked, plainly.Checked, text)
	}
	r.Checked = lumigl.Value{}
	if read := must.Value(codec.Resources([]string{must.Value(codec.Resource(r))}))[0]; read.Checked.Exists() {
		t.Errorf("Checked = %v, want an absent value", read.Checked)
	}
}

// vertexOf returns a graph with a vertex that has the given properties, and the vertices they refer to.
func vertexOf(properties lumigl.Value) *lumigl.Graph {
	doc := &lumigl.Graph{}
	must.Value(doc.Add("")).Properties = properties.Retarget(func(to *lumigl.Vertex) *lumigl.Vertex {
		if v := doc.Vertex(to.Key()); v != nil {
			return v
		}
		return must.Value(doc.Add(to.Key()))
	})
	return doc
}

const program = `{
  "package": "a#1.0.0",
  "args": { "token": SECRET, "size": 3 },
  "lineage": "8f2c",
  "serial": 7,
  "configuration": { "t": { "token": SECRET, "#ref": "data" } },
  "resources": {
    "urn:lumi:prod::b:index::lumi:index:Module::b": {
      "type": "lumi:index:Module", "properties": { "uses": { "bar": { "type": "string", "where": "value != ''" } } }
    },
    "urn:lumi:prod::a:index::t:m:T::z": {
      "type": "t:m:T", "id": "z", "options": { "protect": true }, "source": "main.ts:1:1", "properties": { "password": SECRET, "#ref": 1 },
      "extensions": { "note": SECRET }
    },
    "urn:lumi:prod::a:index::t:m:T::y": {
      "type": "t:m:T", "options": { "dependsOn": [{ "$": "urn:lumi:prod::a:index::t:m:T::z" }] }, "source": "main.ts:2:1",
      "properties": { "a": [{ "$": "urn:lumi:prod::a:index::t:m:T::z", "property": "id" }, { "##ref": SECRET }] }
    },
    "urn:lumi:prod::a:index::lumi:index:Module::a": {
      "type": "lumi:index:Module", "properties": { "provides": { "foo": { "type": "string", "value": SECRET } } }
    }
  },
  "pending": { "deletes": [{ "urn": "urn:lumi:prod::a:index::t:m:T::x", "type": "t:m:T", "properties": { "password": SECRET } }] },
  "ref": "$"
}`

func TestDesired(t *testing.T) {
	t.Parallel()
	const sealed = `{ "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "value": ["hunter2", { "$": "urn:lumi:prod::b:index::lumi:index:Module::b", "property": "provides.bar" }] }`
	source := strings.ReplaceAll(program, "SECRET", strings.Replace(sealed, `, { "$": "urn:lumi:prod::b:index::lumi:index:Module::b", "property": "provides.bar" }`, "", 1))
	source = strings.Replace(source, `"#ref": 1`, `"#ref": `+sealed, 1)
	desired := must.Value(lumigl.ParseSnapshot(source))
	before := textOf(desired)
	text := must.Value(codec.Desired(desired))
	if textOf(desired) != before {
		t.Error("Desired changed its argument")
	}
	if strings.Contains(text, plain) || strings.Count(text, "sealed:1:") != 7 {
		t.Errorf("Desired() =\n%s\nwant 7 sealed secrets and none in plain text", text)
	}
	desired.Pending = lumigl.Pending{}
	if d := cmp.Diff(textOf(desired), textOf(must.Value(codec.ParseDesired(text)))); d != "" {
		t.Errorf("decoded desired state differs (-want +got):\n%s", d)
	}
	if hidden := textOf(must.Value(state.Codec{}.ParseDesired(text))); strings.Contains(hidden, "sealed:") {
		t.Errorf("desired state decoded without the key contains sealed secrets:\n%s", hidden)
	}
	if _, err := (state.Codec{}).Desired(desired); !isKeyError(err) {
		t.Errorf("Desired without a key: error %v, want a *secret.KeyError", err)
	}
	if _, err := (state.Codec{Key: secret.NewKey()}).ParseDesired(text); !isKeyError(err) {
		t.Errorf("ParseDesired with another key: error %v, want a *secret.KeyError", err)
	}
	if _, err := codec.ParseDesired(strings.ReplaceAll(text, "T::z", "T::w")); err == nil || isKeyError(err) {
		t.Errorf("ParseDesired with secrets of another resource: error %v, want one that is not a *secret.KeyError", err)
	}
}

func TestEffects(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var effects []plan.Effect
		for kind := range plan.Forget + 1 {
			e := plan.Effect{Kind: kind, URN: urnOf("a", int(kind)), Possible: rapid.Bool().Draw(t, "possible"), DeleteFirst: rapid.Bool().Draw(t, "first")}
			if kind != plan.Create {
				e.Was = urnOf("a", rapid.IntRange(0, 9).Draw(t, "was"))
			}
			if kind < plan.Delete {
				e.Label = rapid.SampledFrom([]string{"", "#1"}).Draw(t, "label")
				e.Incarnation = rapid.IntRange(0, 2).Draw(t, "incarnation")
				e.Inputs = anyObject(t, []lumigl.Value{refTo(urnOf("a", 1), ""), refTo(urnOf("a", 2), "arn")}, 2)
				e.Drift = anyObject(t, []lumigl.Value{refTo(urnOf("a", 1), "")}, 2)
			}
			if kind == plan.Read {
				e.ID, e.Results = "id", anyObject(t, []lumigl.Value{refTo(urnOf("a", 1), "")}, 2)
				e.Referents = anyObject(t, []lumigl.Value{refTo(urnOf("a", 1), "")}, 2)
			}
			effects = append(effects, e)
		}
		text := must.Value(codec.Effects(effects))
		if strings.Contains(text, plain) {
			t.Fatalf("Effects() contains a secret in plain text: %s", text)
		}
		if d := cmp.Diff(effects, must.Value(codec.ParseEffects(text)), cmp.Comparer(lumigl.Value.Equal)); d != "" {
			t.Fatalf("decoded effects differ (-want +got):\n%s", d)
		}
		must.Value(state.Codec{}.ParseEffects(text))
		others := slices.DeleteFunc(slices.Clone(effects), func(e plan.Effect) bool { return e.Kind == plan.Read })
		text = must.Value(state.Codec{}.WithoutReads(text))
		if d := cmp.Diff(others, must.Value(codec.ParseEffects(text)), cmp.Comparer(lumigl.Value.Equal)); d != "" {
			t.Fatalf("decoded effects without reads differ (-want +got):\n%s", d)
		}
	})
	if all := must.Value(codec.ParseEffects(must.Value(codec.Effects(nil)))); len(all) > 0 {
		t.Errorf("decoded empty effects = %v, want none", all)
	}
	for text, want := range map[string]string{
		"[":                               "1:2: ",
		`[{"urn": "x", "kind": "paint"}]`: `x: unknown effect kind "paint"`,
		"[3]":                             `the plan: unknown effect kind ""`,
	} {
		if _, err := codec.ParseEffects(text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("ParseEffects(%s) error = %v, want prefix %s", text, err, want)
		}
	}
}

// large returns a graph of 20,000 resources. Every tenth resource has a secret.
func large() *graph.Graph {
	var resources []*graph.Resource
	for n := range 20_000 {
		inputs := object(
			field("name", lumigl.TextOf(fmt.Sprint("resource", n))), field("size", lumigl.IntOf(int64(n))),
			field("tags", object(field("team", lumigl.TextOf("payments")), field("stage", lumigl.TextOf("prod")))),
			field("subnets", lumigl.ListOf(refTo(urnOf("a", n/2), "id"), refTo(urnOf("a", n/3), "id"))),
		)
		if n%10 == 0 {
			inputs = inputs.With("password", secretOf(lumigl.TextOf(plain)))
		}
		outputs := object(field("arn", lumigl.TextOf(fmt.Sprint("arn:aws:t:eu-central-1:123456789012:", n))), field("zone", lumigl.TextOf("a")))
		resources = append(resources, &graph.Resource{
			URN: urnOf("a", n), Deployment: 1, ID: fmt.Sprint("id-", n), Inputs: inputs, Checked: inputs, Outputs: outputs, Label: fmt.Sprint("r", n),
			Seed: []byte("0123456789abcdef"), Plugin: "1.2.0", Source: "main.ts:12:9",
		})
	}
	v := graph.NewVersion(graph.VersionID{Module: "a", Deployment: 1}, resources)
	return must.Value((&graph.Graph{Environment: "prod"}).Deploy(graph.Update{Version: v})).Graph
}

func BenchmarkGraph(b *testing.B) {
	rows := table{}
	rows.apply(b, &graph.Graph{}, large())
	vertices := rows.vertices()
	b.ReportAllocs()
	for b.Loop() {
		must.Value(codec.Graph(prod, vertices))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/20_000, "ns/resource")
}

func BenchmarkChanges(b *testing.B) {
	g := large()
	for name, before := range map[string]*graph.Graph{"all": {}, "none": g.Leave("b", graph.Pending{Resource: &graph.Resource{URN: urnOf("b", 1)}})} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _, err := codec.Changes(before, g)
				must.Value(0, err)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/20_000, "ns/resource")
		})
	}
}
