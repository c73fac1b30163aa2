package plan_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/diff"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
)

var storage = plan.Types{
	Replaces: diff.Replaces{"s:x:Object": {"bucket", "key"}, "s:x:Bucket": {"name"}},
	Outputs:  map[tokens.Type][]string{"s:x:Object": {"etag"}, "s:x:Bucket": {"url"}},
}

// desire compares what is desired with a state, and returns the text too.
func desire(t *testing.T, state, desired string) (shown string, d *diff.Delta) {
	t.Helper()
	return desireWith(t, state, desired, storage)
}

func desireWith(t *testing.T, state, desired string, types plan.Types) (shown string, d *diff.Delta) {
	t.Helper()
	old, new := parse(t, state).(*lumigl.Snapshot), parse(t, desired).(*lumigl.Snapshot)
	before, wanted := text(t, old), text(t, new)
	d, err := compare(old, new, types)
	if err != nil {
		t.Fatal(err)
	}
	if text(t, old) != before || text(t, new) != wanted {
		t.Error("what was compared has changed")
	}
	var b bytes.Buffer
	if err := d.WriteText(&b, diff.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	return b.String(), d
}

func TestUnnamed(t *testing.T) {
	const (
		u      = `"urn:lumi:prod::p:index::s:x:Object::`
		bucket = `"urn:lumi:prod::p:index::s:x:Bucket::b": {"type": "s:x:Bucket", "properties": {"name": "b"}}`
		in     = `"bucket": {"#ref": "urn:lumi:prod::p:index::s:x:Bucket::b"}`
		x      = u + `x": {"type": "s:x:Object", "id": "b/x", "properties": {` + in + `, "key": "x", "text": "1", "etag": "e"}}`
		y      = u + `y": {"type": "s:x:Object", "id": "b/y", "properties": {` + in + `, "key": "y", "text": "1", "etag": "e"}}`
	)
	number := func(n, key, text string) string {
		return u + n + `": {"type": "s:x:Object", "properties": {` + in + `, "key": "` + key + `", "text": "` + text + `"}}`
	}
	of := func(resources ...string) string {
		all := bucket
		for _, r := range resources {
			all += ", " + r
		}
		return `{"resources": {` + all + `}}`
	}
	for _, test := range []struct{ name, state, desired, want string }{
		{"the same", of(x, y), of(number("#1", "y", "1"), number("#2", "x", "1")), "Nothing differs.\n"},
		{"changed", of(x, y), of(number("#1", "x", "2"), number("#2", "y", "1")),
			`~ urn:lumi:prod::p:index::s:x:Object::x (#1 in the program)
  ~ text: "1" → "2"
  … 3 unchanged

1 updated, 2 unchanged
`},
		{"changed in components", of(x, y), of(number("web/#1", "x", "2"), number("web/db/#1", "y", "1")),
			`~ urn:lumi:prod::p:index::s:x:Object::x (web/#1 in the program)
  ~ text: "1" → "2"
  … 3 unchanged

1 updated, 2 unchanged
`},
		{"another", of(x), of(number("#1", "z", "1")),
			`+ urn:lumi:prod::p:index::s:x:Object::#1
  + bucket: ref s:x:Bucket::b
  + key: "z"
  + text: "1"

- urn:lumi:prod::p:index::s:x:Object::x
  - (id): "b/x"
  - bucket: ref s:x:Bucket::b
  - etag: "e"
  - key: "x"
  - text: "1"

1 created, 1 deleted, 1 unchanged
`},
		// Nobody can say which of the two is there.
		{"two of one", of(x), of(number("#1", "x", "2"), number("#2", "x", "3")),
			`+ urn:lumi:prod::p:index::s:x:Object::#1
  + bucket: ref s:x:Bucket::b
  + key: "x"
  + text: "2"

+ urn:lumi:prod::p:index::s:x:Object::#2
  + bucket: ref s:x:Bucket::b
  + key: "x"
  + text: "3"

- urn:lumi:prod::p:index::s:x:Object::x
  - (id): "b/x"
  - bucket: ref s:x:Bucket::b
  - etag: "e"
  - key: "x"
  - text: "1"

2 created, 1 deleted, 1 unchanged
`},
		// The number stands in the state too.
		{"numbered", of(number("#1", "y", "1"), x), of(number("#1", "x", "1"), number("#2", "y", "1")),
			`± urn:lumi:prod::p:index::s:x:Object::#1 (replaced)
  ~ key: "y" → "x" (replaces)
  … 2 unchanged

+ urn:lumi:prod::p:index::s:x:Object::#2
  + bucket: ref s:x:Bucket::b
  + key: "y"
  + text: "1"

- urn:lumi:prod::p:index::s:x:Object::x
  - (id): "b/x"
  - bucket: ref s:x:Bucket::b
  - etag: "e"
  - key: "x"
  - text: "1"

1 created, 1 replaced, 1 deleted, 1 unchanged
`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, _ := desire(t, test.state, test.desired)
			if d := cmp.Diff(test.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestNamed holds what programs read about resources without names, and that what refers to them is the same too.
func TestNamed(t *testing.T) {
	const state = `{"resources": {
		"urn:lumi:prod::p:index::s:x:Object::x": {"type": "s:x:Object", "id": "1", "properties": {"key": "x"}},
		"urn:lumi:prod::p:index::s:x:Bucket::b": {"type": "s:x:Bucket", "properties": {
			"name": "b", "of": {"#ref": "urn:lumi:prod::p:index::s:x:Object::x"}}}}}`
	_, d := desire(t, state, `{"resources": {
		"urn:lumi:prod::p:index::s:x:Object::#1": {"type": "s:x:Object", "properties": {"key": "x"}},
		"urn:lumi:prod::p:index::s:x:Bucket::b": {"type": "s:x:Bucket", "properties": {
			"name": "b", "of": {"#ref": "urn:lumi:prod::p:index::s:x:Object::#1"}}}}}`)
	var b bytes.Buffer
	if err := d.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	const want = `{
  "version": 1,
  "equal": true,
  "ref": "#ref",
  "summary": {
    "created": 0,
    "deleted": 0,
    "updated": 0,
    "replaced": 0,
    "unchanged": 2
  },
  "header": [],
  "resources": [],
  "moves": [],
  "named": [
    {
      "from": "urn:lumi:prod::p:index::s:x:Object::x",
      "to": "urn:lumi:prod::p:index::s:x:Object::#1"
    }
  ]
}
`
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Error(d)
	}
	// Another module's are others.
	if _, d := desire(t, state, `{"resources": {"urn:lumi:prod::p:other::s:x:Object::#1": {
		"type": "s:x:Object", "properties": {"key": "x"}}}}`); len(d.Named) > 0 {
		t.Errorf("%+v", d.Named)
	}
}

// TestUnnamedNot holds which resources are not taken for another one, and that this is no reason not to know what refers
// to them.
func TestUnnamedNot(t *testing.T) {
	resource := func(kind, name, properties string) string {
		return `"urn:lumi:prod::p:index::` + kind + `::` + name + `": {"type": "` + kind + `", "properties": {` + properties + `}}`
	}
	resources := func(all ...string) string { return `{"resources": {` + strings.Join(all, ", ") + `}}` }
	for _, test := range []struct{ name, state, desired, want string }{
		{"a letter behind the number", resources(resource("s:x:Object", "x", `"key": "x"`)),
			resources(resource("s:x:Object", "#1a", `"key": "x"`)), ""},
		{"no number", resources(resource("s:x:Object", "x", `"key": "x"`)),
			resources(resource("s:x:Object", "#", `"key": "x"`)), ""},
		{"all of it can change", resources(resource("s:x:Other", "x", `"a": 1`)), resources(resource("s:x:Other", "#1", `"a": 2`)), ""},
		{"two numbers", resources(resource("s:x:Object", "x", `"key": "x"`)),
			resources(resource("s:x:Object", "#10", `"key": "x"`)), "#10 is x"},
		{"what refers to a new one", resources(resource("s:x:Object", "x", `"key": "x"`), resource("s:x:Object", "y",
			`"key": "y", "of": {"#ref": "urn:lumi:prod::p:index::s:x:Object::x"}`)),
			resources(resource("s:x:Object", "#1", `"key": "z"`), resource("s:x:Object", "#2",
				`"key": "y", "of": {"#ref": "urn:lumi:prod::p:index::s:x:Object::#1"}`)), "#2 is y"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, d := desire(t, test.state, test.desired)
			var got []string
			for _, n := range d.Named {
				got = append(got, n.New.URN().Name()+" is "+n.Old.URN().Name())
			}
			if d := cmp.Diff(test.want, strings.Join(got, ", ")); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestUnnamedLater holds that it does not matter how many others a resource refers to, and these in turn: one of which the
// program says all the same comes before one that only has the same properties which cannot change, and what could be
// several is none.
func TestUnnamedLater(t *testing.T) {
	resource := func(kind, name, properties string) string {
		return `"` + inModule + kind + `::` + name + `": {"type": "s:x:` + kind + `", "properties": {` + properties + `}}`
	}
	resources := func(all ...string) string { return `{"resources": {` + strings.Join(all, ", ") + `}}` }
	ref := func(to string) string { return `{"#ref": "` + inModule + to + `"}` }
	url := func(of string) string { return `{"#ref": "` + inModule + of + `", "property": "url"}` }
	bucket := resource("Bucket", "b", `"name": "b", "url": "u", "n": 1`)
	wanted := resource("Bucket", "#1", `"name": "b", "n": 1`)
	secret := func(v string) string { return signed(wire.Secret, `"value": `+v) }
	for _, test := range []struct{ name, state, desired, want string }{
		{"all the same", resources(bucket, resource("Object", "x", `"key": "k", "text": 5, "of": `+ref("Bucket::b"))),
			resources(wanted, resource("Object", "#1", `"key": "k", "text": 7`),
				resource("Object", "#2", `"key": "k", "text": 5, "of": `+ref("Bucket::#1"))), "Bucket #1 is b, Object #2 is x"},
		{"several with what cannot change", resources(bucket, resource("Object", "x", `"key": "k", "text": 5`)),
			resources(wanted, resource("Object", "#1", `"key": "k", "text": 7`),
				resource("Object", "#2", `"key": "k", "text": 6, "of": `+ref("Bucket::#1"))), "Bucket #1 is b"},
		{"several in other words", resources(bucket, resource("Other", "x", `"a": "u"`)),
			resources(wanted, resource("Other", "#1", `"a": "u"`), resource("Other", "#2", `"a": `+url("Bucket::#1"))), "Bucket #1 is b"},
		{"what refers to one of several", resources(bucket, resource("Bucket", "c", `"name": "c", "url": "u", "of": `+ref("Bucket::b")),
			resource("Other", "x", `"a": "u"`), resource("Other", "y", `"of": `+ref("Other::x")),
			resource("Other", "z", `"of": `+ref("Other::y"))),
			resources(wanted, resource("Bucket", "#2", `"name": "c", "of": `+ref("Bucket::#1")), resource("Other", "#1", `"a": "u"`),
				resource("Other", "#2", `"a": `+url("Bucket::#2")), resource("Other", "#3", `"of": `+ref("Other::#1")),
				resource("Other", "#4", `"of": `+ref("Other::#3"))),
			"Bucket #1 is b, Bucket #2 is c"},
		{"what refers to a property of one of several", resources(bucket,
			resource("Bucket", "c", `"name": "c", "url": "u", "of": `+ref("Bucket::b")),
			resource("Other", "x", `"url": "u"`), resource("Other", "y", `"url": "u", "of": `+ref("Bucket::c"))),
			resources(wanted, resource("Bucket", "#2", `"name": "c", "of": `+ref("Bucket::#1")), resource("Other", "#1", `"url": "u"`),
				resource("Other", "#2", `"url": `+url("Bucket::#1")),
				resource("Other", "#3", `"url": `+url("Other::#1")+`, "of": `+ref("Bucket::#2"))),
			"Bucket #1 is b, Bucket #2 is c"},
		{"known by its properties", resources(bucket, resource("Other", "x", `"of": `+ref("Bucket::b")), resource("Object", "y",
			`"key": "k", "text": 5, "of": `+ref("Other::x"))),
			resources(resource("Bucket", "#1", `"name": "b", "n": 2`), resource("Other", "#1", `"of": `+ref("Bucket::#1")),
				resource("Object", "#2", `"key": "k", "text": 6, "of": `+ref("Other::#1")),
				resource("Object", "#3", `"key": "k", "text": 5, "of": `+ref("Other::#1"))),
			"Bucket #1 is b, Other #1 is x, Object #3 is y"},
		{"nested", resources(resource("Rules", "x", `"rules": [{"port": 80, "n": 1}], "n": 1`),
			resource("Rules", "y", `"rules": [{"port": 90, "n": 1}], "n": 1`)),
			resources(resource("Rules", "#1", `"rules": [{"port": 90, "n": 2}], "n": 2`)), "Rules #1 is y"},
		{"nested another", resources(resource("Rules", "x", `"zone": "z", "rules": [{"port": 80}]`)),
			resources(resource("Rules", "#1", `"zone": "z", "rules": [{"port": 90}]`)), ""},
		{"nested in a secret", resources(resource("Rules", "x", `"rules": `+secret(`{"port": 80, "n": 1}`))),
			resources(resource("Rules", "#1", `"rules": `+secret(`{"port": 80, "n": 2}`))), ""},
		{"below", resources(resource("Rules", "x", `"zone": {"a": 1}, "n": 1`)),
			resources(resource("Rules", "#1", `"zone": {"a": 1}, "n": 2`)), "Rules #1 is x"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, d := desireWith(t, test.state, test.desired, plan.Types{Outputs: storage.Outputs, Replaces: diff.Replaces{
				"s:x:Object": {"key"}, "s:x:Bucket": {"name"}, "s:x:Rules": {"rules.port", "zone"}}})
			var got []string
			for _, n := range d.Named {
				got = append(got, n.New.Type.Name()+" "+n.New.URN().Name()+" is "+n.Old.URN().Name())
			}
			if d := cmp.Diff(test.want, strings.Join(got, ", ")); d != "" {
				t.Error(d)
			}
		})
	}
	// So it is with resources that moved, of which none is recognized if there are several.
	_, d := desire(t, resources(bucket, resource("Other", "x", `"a": "u"`)), resources(resource("Bucket", "c", `"name": "b", "n": 1`),
		resource("Other", "y", `"a": "u"`), resource("Other", "z", `"a": `+url("Bucket::c"))))
	if len(d.Moves) != 1 || d.Moves[0].New.Key() != inModule+"Bucket::c" {
		t.Errorf("%+v", d.Moves)
	}
	// The id of a provider says which is which.
	_, d = desire(t, resources(bucket, strings.Replace(resource("Other", "x", `"a": "u"`), `"prop`, `"id": "i", "prop`, 1)),
		resources(resource("Bucket", "c", `"name": "b", "n": 1`),
			strings.Replace(resource("Other", "y", `"a": "u"`), `"prop`, `"id": "i", "prop`, 1), resource("Other", "z", `"a": `+url("Bucket::c"))))
	if len(d.Moves) != 2 {
		t.Errorf("%+v", d.Moves)
	}
}

// TestDesiredMoves holds that what only deployments know does not hide that a resource moved.
func TestDesiredMoves(t *testing.T) {
	got, d := desire(t, `{"resources": {
		"urn:lumi:prod::p:index::s:x:Bucket::a": {"type": "s:x:Bucket", "id": "i-1", "properties": {"name": "n", "url": "u"}},
		"urn:lumi:prod::p:index::s:x:Bucket::c": {"type": "s:x:Bucket", "id": "i-2", "properties": {"name": "m", "other": 1}}}}`,
		`{"resources": {
		"urn:lumi:prod::p:index::s:x:Bucket::b": {"type": "s:x:Bucket", "properties": {"name": "n"}},
		"urn:lumi:prod::p:index::s:x:Bucket::d": {"type": "s:x:Bucket", "properties": {"name": "m"}},
		"urn:lumi:prod::p:index::s:x:Bucket::e": {"type": "s:x:Bucket", "properties": {"name": "n", "url": "v"}}}}`)
	if len(d.Moves) != 1 || d.Moves[0].Old.Key() != "urn:lumi:prod::p:index::s:x:Bucket::a" ||
		d.Moves[0].New.Key() != "urn:lumi:prod::p:index::s:x:Bucket::b" {
		t.Errorf("%+v", d.Moves)
	}
	const want = `
Perhaps moved, since all that the program says is the same, but for the URN:
  urn:lumi:prod::p:index::s:x:Bucket::a
    → urn:lumi:prod::p:index::s:x:Bucket::b
`
	if !strings.Contains(got, want) {
		t.Error(cmp.Diff(want, got))
	}
}

// TestDesiredMovesByID holds that a resource whose id belongs to another one, which has changed, is not in doubt.
func TestDesiredMovesByID(t *testing.T) {
	bucket := func(name, id, hash string) string {
		return fmt.Sprintf(`"urn:lumi:prod::p:index::s:x:Bucket::%s": {"type": "s:x:Bucket", %s "properties": {"f": %s}}`,
			name, id, signed(wire.Asset, `"path": "p"`+hash))
	}
	_, d := desire(t,
		`{"resources": {`+bucket("a", `"id": "1",`, `, "hash": "x"`)+`, `+bucket("b", `"id": "2",`, `, "hash": "y"`)+`}}`,
		`{"resources": {`+bucket("c", `"id": "1",`, `, "hash": "z"`)+`, `+bucket("d", ``, ``)+`}}`)
	if len(d.Moves) != 1 || d.Moves[0].Old.URN().Name() != "b" || d.Moves[0].New.URN().Name() != "d" {
		t.Errorf("%+v", d.Moves)
	}
}

// TestUnnamedAny takes the names away from what there is: nothing differs. Then it changes what can be changed, and all
// is still found.
func TestUnnamedAny(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		state, desired, changed := &lumigl.Snapshot{}, &lumigl.Snapshot{}, &lumigl.Snapshot{}
		all := []*lumigl.Snapshot{state, desired, changed}
		n := rapid.IntRange(1, 12).Draw(rt, "resources")
		numbers := rapid.Permutation(numbered(n)).Draw(rt, "numbers")
		resources := make([][]*lumigl.Vertex, len(all))
		for i := range n {
			to := rapid.IntRange(0, i).Draw(rt, "refers to")
			for j, s := range all {
				name := fmt.Sprint("n", i)
				if j > 0 {
					name = numbers[i]
				}
				r, err := s.Add(urn.URN("urn:lumi:prod::p:index::s:x:Object::" + name))
				if err != nil {
					rt.Fatal(err)
				}
				r.Properties = lumigl.ObjectOf(lumigl.Member{Key: "key", Value: lumigl.IntOf(int64(i))})
				if to < i {
					r.Properties = r.Properties.With("bucket", lumigl.ReferenceTo(resources[j][to]))
				}
				r.Properties = r.Properties.With("text", lumigl.IntOf(int64(j/2)))
				resources[j] = append(resources[j], r)
			}
			resources[0][i].Properties = resources[0][i].Properties.With("etag", lumigl.TextOf("e"))
			resources[0][i].ID = fmt.Sprint("i-", i)
		}
		for j, updated := range []int{0, n} {
			d, err := compare(state, all[j+1], storage)
			if err != nil {
				rt.Fatal(err)
			}
			if len(d.Named) != n || len(d.Resources) != updated || d.Count(diff.Updated) != updated {
				rt.Fatalf("%d named, %+v", len(d.Named), d.Resources)
			}
			if _, err := diff.Apply(state, d); err != nil {
				rt.Fatal(err)
			}
		}
	})
}

// TestUnnamedOrderAny holds that it does not matter which number a resource without a name has, nor in which order they
// were added.
func TestUnnamedOrderAny(t *testing.T) {
	type spec struct {
		kind            string
		key, text, to   int
		refers, through bool
	}
	rapid.Check(t, func(rt *rapid.T) {
		draw := func() []spec {
			all := make([]spec, rapid.IntRange(1, 8).Draw(rt, "resources"))
			for i := range all {
				all[i] = spec{
					kind: rapid.SampledFrom([]string{"Object", "Bucket", "Other"}).Draw(rt, "kind"),
					key:  rapid.IntRange(0, 1).Draw(rt, "key"), text: rapid.IntRange(0, 1).Draw(rt, "text"),
					to:      rapid.IntRange(0, max(i-1, 0)).Draw(rt, "to"),
					refers:  i > 0 && rapid.Bool().Draw(rt, "refers"),
					through: rapid.Bool().Draw(rt, "through"),
				}
			}
			return all
		}
		build := func(all []spec, order []int, name func(i int) string, state bool) (*lumigl.Snapshot, []*lumigl.Vertex) {
			s, resources := &lumigl.Snapshot{}, make([]*lumigl.Vertex, len(all))
			for _, i := range order {
				r, err := s.Add(urn.URN(inModule + all[i].kind + "::" + name(i)))
				if err != nil {
					rt.Fatal(err)
				}
				resources[i] = r
			}
			for i, one := range all {
				v := lumigl.ObjectOf(lumigl.Member{Key: "key", Value: lumigl.IntOf(int64(one.key))},
					lumigl.Member{Key: "text", Value: lumigl.IntOf(int64(one.text))})
				if one.refers && !one.through {
					v = v.With("of", lumigl.ReferenceTo(resources[one.to]))
				}
				switch {
				case one.refers && one.through && !state:
					v = v.With("url", lumigl.PropertyOf(resources[one.to], "url"))
				case state || one.kind == "Other":
					v = v.With("url", lumigl.TextOf("u"))
				}
				resources[i].Properties = v
			}
			return s, resources
		}
		olds, news := draw(), draw()
		if rapid.Bool().Draw(rt, "the same") {
			news = olds
		}
		places := func(n int) []int {
			all := make([]int, n)
			for i := range all {
				all[i] = i
			}
			return all
		}
		state, _ := build(olds, places(len(olds)), func(i int) string { return fmt.Sprint("n", i) }, true)
		named := func(order, numbers []int) []string {
			desired, resources := build(news, order, func(i int) string { return fmt.Sprint("#", numbers[i]+1) }, false)
			d, err := compare(state, desired, plan.Types{
				Outputs: map[tokens.Type][]string{"s:x:Bucket": {"url"}}, Replaces: diff.Replaces{"s:x:Object": {"key"}, "s:x:Bucket": {"key", "of"}}})
			if err != nil {
				rt.Fatal(err)
			}
			was := make([]string, len(news))
			for _, n := range d.Named {
				was[slices.Index(resources, n.New)] = n.Old.Key()
			}
			return was
		}
		want := named(places(len(news)), places(len(news)))
		got := named(rapid.Permutation(places(len(news))).Draw(rt, "order"), rapid.Permutation(places(len(news))).Draw(rt, "numbers"))
		if d := cmp.Diff(want, got); d != "" {
			rt.Fatal(d)
		}
	})
}

// numbered are what unnamed resources are called.
func numbered(n int) []string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprint("#", i+1))
	}
	return all
}
