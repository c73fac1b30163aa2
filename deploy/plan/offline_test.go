package plan_test

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/internal/constraint"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/diff"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
	"github.com/lumi-idl/lumi/test/kit/golden"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// TestCompare compares the states in testdata/compare.txtar with desired state. Both are in the short form of
// [TestMake], with SECRET, ASSET, ARCHIVE, and EXPR as placeholders for the signatures of special objects.
func TestCompare(t *testing.T) {
	golden.Archives(t, "testdata/compare.txtar", compareStates)
}

func compareStates(t *testing.T, archive *txtar.Archive) {
	var types plan.Types
	marks := strings.NewReplacer("SECRET", mark(wire.Secret), "ASSET", mark(wire.Asset),
		"ARCHIVE", mark(wire.Archive), "EXPR", mark(wire.Expression))
	for i, f := range archive.Files {
		name, isState := strings.CutPrefix(f.Name, "state ")
		if f.Name == "types" {
			types = typesOf(parseTypes(string(f.Data)))
		}
		if !isState {
			continue
		}
		t.Run(name, func(t *testing.T) {
			s := story{T: t}
			state := s.desired("p", marks.Replace(string(f.Data)))
			desired := s.desired("p", marks.Replace(string(archive.Files[i+1].Data)))
			before := text(t, state) + text(t, desired)
			got := shorten(compare(t, state, desired, types))
			if text(t, state)+text(t, desired) != before {
				t.Error("Compare changed its arguments")
			}
			golden.Part(t, &archive.Files[i+2], got)
		})
	}
}

// mark returns the object member that identifies a special object.
func mark(signature string) string { return fmt.Sprintf("%q: %q", wire.Signature, signature) }

func typesOf(table typeTable) plan.Types {
	types := plan.Types{Replaces: diff.Replaces{}, Outputs: map[tokens.Type][]string{}, Computed: map[tokens.Type][]string{}}
	types.Equal = map[tokens.Type]map[string]*constraint.Equality{"x:m:Group": {
		"policy": {As: "json"}, "rules": {As: "set"}, "hosts": {Elements: &constraint.Equality{As: "caseless"}},
	}}
	for token, d := range table {
		types.Replaces[token], types.Outputs[token], types.Computed[token] = d.Replaces, d.Outputs, d.Computed
	}
	return types
}

func compare(t *testing.T, state, desired *lumigl.Snapshot, types plan.Types) string {
	t.Helper()
	d, err := plan.Compare(state, desired, types)
	if wrong := (*plan.Error)(nil); errors.As(err, &wrong) {
		return "error: " + err.Error() + "\n"
	} else if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	must.Do(t, d.WriteText(&b, diff.TextOptions{}))
	return b.String()
}

func parse(t *testing.T, src string) *lumigl.Snapshot {
	t.Helper()
	return must.Get(lumigl.ParseSnapshot(src))(t)
}

func text(t *testing.T, s *lumigl.Snapshot) string {
	t.Helper()
	return string(must.Get(lumigl.Append(nil, s))(t))
}

func TestCompareScope(t *testing.T) {
	const u = "urn:lumi:prod::p:index::x:m:Other::"
	resource := func(key, id, properties string) string {
		return fmt.Sprintf(`%q: {"type": "x:m:Other"%s, "properties": {%s}}`, key, id, properties)
	}
	snapshot := func(resources ...string) string { return `"resources": {` + strings.Join(resources, ", ") + `}}` }
	const other = "urn:lumi:prod::q:index::x:m:Other::o"
	a := resource(u+"a", `, "id": "1", "extensions": {"e": 1}`, `"x": 1`)
	for _, test := range []struct{ name, state, desired, want string }{
		{"data only in the state", `{"lineage": "l", "serial": 3, "pending": {"deletes": [{"urn": "` + u + `a", "type": "x:m:Other", "id": "0",
			"properties": {}}]}, ` + snapshot(a), "{" + snapshot(resource(u+"a", "", `"x": 1`)), "Nothing differs.\n"},
		{"data in the program", "{" + snapshot(a), `{"note": 1, ` + snapshot(resource(u+"a", `, "id": "2"`, `"x": 1`)),
			"+ note: 1\n\n± Other::a (replaced)\n  ~ (id): \"1\" → \"2\" (replaces)\n\n1 replaced\n"},
		{"references to ids", "{" + snapshot(a, resource(u+"b", "", `"a": "1", "b": "1"`)),
			"{" + snapshot(resource(u+"a", "", `"x": 1`), resource(u+"b", "", `"a": {"#ref": "`+u+`a", "property": "id"}, "b": "1"`)),
			"Nothing differs.\n"},
		{"another module", "{" + snapshot(a, resource(other, "", `"of": {"#ref": "`+u+`a"}`)), `{"package": "p", ` + snapshot(),
			"+ package: \"p\"\n\n- Other::a\n  - (id): \"1\"\n  - x: 1\n  - (extensions): {e: 1}\n\n1 deleted, 1 unchanged\n"},
		{"two modules", "{" + snapshot(a), "{" + snapshot(resource(u+"a", "", ""), resource(other, "", "")),
			"error: q:Other::o belongs to module q, not p; deploy each module separately\n"},
		{"nothing", `{"resources": {}}`, `{"resources": {}}`, "Nothing differs.\n"},
		{"another environment", "{" + snapshot(resource(u+"a", "", "")), "{" + snapshot(resource(strings.Replace(u, "prod", "dev", 1)+"a", "", "")),
			"+ urn:lumi:dev::p:index::x:m:Other::a\n\n- Other::a\n\n1 created, 1 deleted\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := shorten(compare(t, parse(t, test.state), parse(t, test.desired), plan.Types{}))
			if d := gocmp.Diff(test.want, got); d != "" {
				t.Errorf("Compare() differs (-want +got):\n%s", d)
			}
		})
	}
}

func TestCompareJSON(t *testing.T) {
	s := story{T: t}
	d := must.Get(plan.Compare(s.desired("p", `{"Other::x": {"a": 1}}`), s.desired("p", `{"Other::#1": {"a": 1}}`), plan.Types{}))(t)
	var b bytes.Buffer
	must.Do(t, d.WriteJSON(&b))
	const want = `"named": [
    {
      "from": "urn:lumi:prod::p:index::x:m:Other::x",
      "to": "urn:lumi:prod::p:index::x:m:Other::#1"
    }
  ]`
	if !strings.Contains(b.String(), want) {
		t.Errorf("JSON of the delta =\n%s\nwant it to contain\n%s", b.String(), want)
	}
}

func TestAddSchema(t *testing.T) {
	got := plan.Types{Replaces: diff.Replaces{"p:m:R": {"c"}}}
	got.AddSchema(&schema.Package{Modules: []*schema.Module{{Files: []*schema.File{{Decls: []schema.Decl{
		&schema.Struct{Properties: []*schema.Property{{Name: "a", Out: true}}},
		&schema.Resource{Token: "p:m:R", Properties: []*schema.Property{{Name: "a", Out: true}, {Name: "b", Computed: true}, {Name: "d", Replaces: true},
			{Name: "e", Constraints: &schema.Constraints{Equal: "json"}}}},
	}}}}}})
	want := plan.Types{
		Replaces: diff.Replaces{"p:m:R": {"c", "d"}},
		Outputs:  map[tokens.Type][]string{"p:m:R": {"a"}}, Computed: map[tokens.Type][]string{"p:m:R": {"b"}},
		Equal: map[tokens.Type]map[string]*constraint.Equality{"p:m:R": {"e": {As: "json"}}},
	}
	if d := gocmp.Diff(want, got); d != "" {
		t.Errorf("types after AddSchema differ (-want +got):\n%s", d)
	}
}

// Chains of references are followed without recursion, in any order of resources.
func TestCompareDeep(t *testing.T) {
	const n = 8_000
	chain := func(place func(i int) int, property func(before *lumigl.Vertex) lumigl.Value) *lumigl.Snapshot {
		s, all := &lumigl.Snapshot{}, make([]*lumigl.Vertex, n)
		for i := range n {
			r := must.Get(s.Add(urn.URN(fmt.Sprint(prefix("p"), "Other::", place(i)))))(t)
			all[place(i)] = r
		}
		for i, r := range all {
			x := lumigl.TextOf("v")
			if i > 0 {
				x = property(all[i-1])
			}
			r.Properties = lumigl.ObjectOf(lumigl.Member{Key: "x", Value: x})
		}
		return s
	}
	state := chain(func(i int) int { return i }, func(*lumigl.Vertex) lumigl.Value { return lumigl.TextOf("v") })
	defer debug.SetMaxStack(debug.SetMaxStack(4 << 20))
	for name, place := range map[string]func(int) int{
		"in order": func(i int) int { return i }, "the other way round": func(i int) int { return n - 1 - i },
	} {
		t.Run(name, func(t *testing.T) {
			desired := chain(place, func(before *lumigl.Vertex) lumigl.Value { return lumigl.PropertyOf(before, "x") })
			if d, err := plan.Compare(state, desired, plan.Types{}); err != nil || !d.Empty() {
				t.Errorf("Compare() = %d differences, %v, want none", len(d.Resources), err)
			}
		})
	}
}

// Memory use is linear in the size of a resource and the number of its dependents.
func TestCompareMemory(t *testing.T) {
	const n = 2_000
	build := func(value func(hub *lumigl.Vertex, name string) lumigl.Value) *lumigl.Snapshot {
		s := (&story{T: t}).desired("p", `{"Other::hub": {}}`)
		hub := s.Vertex(prefix("p") + "Other::hub")
		var outputs lumigl.ObjectBuilder
		for i := range n {
			name := fmt.Sprint("o", i)
			outputs.Set(name, lumigl.TextOf("v"))
			r := must.Get(s.Add(urn.URN(fmt.Sprint(prefix("p"), "Other::", i))))(t)
			r.Properties = lumigl.ObjectOf(lumigl.Member{Key: "a", Value: value(hub, name)})
		}
		hub.Properties = outputs.Object()
		return s
	}
	state := build(func(*lumigl.Vertex, string) lumigl.Value { return lumigl.TextOf("w") })
	desired := build(lumigl.PropertyOf)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	d, err := plan.Compare(state, desired, plan.Types{})
	runtime.ReadMemStats(&after)
	if err != nil || len(d.Resources) != n {
		t.Fatalf("Compare() = %d differences, %v, want %d", len(d.Resources), err, n)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20 {
		t.Errorf("Compare allocated %d MiB, want at most 64", used>>20)
	}
}

// If resources lose their names, there are no differences. They are still recognized after a change to all properties
// that can be changed in place.
func TestCompareUnnamedRandom(t *testing.T) {
	types := plan.Types{
		Replaces: diff.Replaces{"x:m:Object": {"key"}}, Outputs: map[tokens.Type][]string{"x:m:Object": {"etag"}},
	}
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(rt, "resources")
		numbers := make([]int, n)
		for i := range numbers {
			numbers[i] = i + 1
		}
		numbers = rapid.Permutation(numbers).Draw(rt, "numbers")
		targets := make([]int, n)
		for i := range targets {
			targets[i] = rapid.IntRange(0, i).Draw(rt, "refers to")
		}
		build := func(named bool, changed int64) *lumigl.Snapshot {
			s := &lumigl.Snapshot{}
			var all []*lumigl.Vertex
			for i, to := range targets {
				name := fmt.Sprint("#", numbers[i])
				if named {
					name = fmt.Sprint("n", i)
				}
				r := must.Get(s.Add(urn.URN(prefix("p") + "Object::" + name)))(rt)
				r.Properties = lumigl.ObjectOf(lumigl.Member{Key: "key", Value: lumigl.IntOf(int64(i))},
					lumigl.Member{Key: "text", Value: lumigl.IntOf(changed)})
				if to < i {
					r.Properties = r.Properties.With("of", lumigl.ReferenceTo(all[to]))
				}
				if named {
					r.Properties = r.Properties.With("etag", lumigl.TextOf("e"))
				}
				all = append(all, r)
			}
			return s
		}
		for changed, updated := range []int{0, n} {
			d := must.Get(plan.Compare(build(true, 0), build(false, int64(changed)), types))(rt)
			if len(d.Named) != n || len(d.Resources) != updated || d.Count(diff.Updated) != updated {
				rt.Fatalf("Compare() = %d named resources and %d updates of %+v, want %d and %d", len(d.Named), d.Count(diff.Updated), d.Resources, n, updated)
			}
		}
	})
}

// A snapshot does not differ from itself. Comparing any two snapshots succeeds without changing them.
func TestCompareRandom(t *testing.T) {
	types := plan.Types{
		Replaces: diff.Replaces{"x:m:Object": {"a"}, "x:m:Bucket": {"b"}},
		Outputs:  map[tokens.Type][]string{"x:m:Object": {"b"}, "x:m:Bucket": {"url"}},
	}
	names := rapid.SampledFrom([]string{"a", "b", "url"})
	draw := func(t *rapid.T, called ...string) *lumigl.Snapshot {
		s := &lumigl.Snapshot{}
		var targets []*lumigl.Vertex
		var value func(depth int) lumigl.Value
		value = func(depth int) lumigl.Value {
			member := func(key string, v lumigl.Value) lumigl.Member { return lumigl.Member{Key: key, Value: v} }
			special := func(signature string, more ...lumigl.Member) lumigl.Value {
				return lumigl.ObjectOf(append(more, member(wire.Signature, lumigl.TextOf(signature)))...)
			}
			switch kind := rapid.IntRange(0, 9).Draw(t, "kind"); {
			case kind < 3 && len(targets) > 0:
				return lumigl.PropertyOf(rapid.SampledFrom(targets).Draw(t, "target"), names.Draw(t, "property"))
			case kind == 3 && len(targets) > 0:
				return lumigl.ReferenceTo(rapid.SampledFrom(targets).Draw(t, "target"))
			case kind == 4:
				return special(wire.Asset, member("path", lumigl.TextOf("a")), member("hash", lumigl.TextOf("h")))
			case kind == 5:
				return lumigl.TextOf(wire.Unknown)
			case kind == 6 && depth > 0:
				return special(wire.Secret, member("value", value(depth-1)))
			case kind == 7 && depth > 0:
				return lumigl.ListOf(value(depth-1), value(depth-1))
			}
			return rapid.SampledFrom([]lumigl.Value{lumigl.TextOf("u"), lumigl.TextOf("v"), lumigl.NullValue()}).Draw(t, "value")
		}
		for range rapid.IntRange(0, 6).Draw(t, "resources") {
			kind := rapid.SampledFrom([]string{"Object", "Bucket", "Other"}).Draw(t, "type")
			name := rapid.SampledFrom(called).Draw(t, "name")
			r, err := s.Add(urn.URN(prefix("p") + kind + "::" + name))
			if err != nil {
				continue
			}
			for _, key := range rapid.SliceOfNDistinct(names, 0, 3, rapid.ID).Draw(t, "properties") {
				r.Properties = r.Properties.With(key, value(2))
			}
			targets = append(targets, r)
		}
		return s
	}
	rapid.Check(t, func(rt *rapid.T) {
		state, desired := draw(rt, "n", "m"), draw(rt, "n", "#1", "#2")
		before := [...]string{text(t, state), text(t, desired)}
		compare(t, state, desired, types)
		if got := compare(t, state, state, types); got != "Nothing differs.\n" {
			rt.Fatalf("Compare of a snapshot with itself = %s, want no differences", got)
		}
		if before != [...]string{text(t, state), text(t, desired)} {
			rt.Fatal("Compare changed its arguments")
		}
	})
}

// A doubly wrapped secret does not differ from itself.
func TestCompareNestedSecrets(t *testing.T) {
	secret := func(v lumigl.Value) lumigl.Value {
		return lumigl.ObjectOf(
			lumigl.Member{Key: wire.Signature, Value: lumigl.TextOf(wire.Secret)}, lumigl.Member{Key: "value", Value: v},
		)
	}
	s := &lumigl.Snapshot{}
	r := must.Get(s.Add(urn.URN(prefix("p") + "Object::n")))(t)
	r.Properties = lumigl.ObjectOf(lumigl.Member{Key: "a", Value: secret(secret(lumigl.TextOf("u")))})
	if got := compare(t, s, s, plan.Types{}); got != "Nothing differs.\n" {
		t.Errorf("Compare of a snapshot with itself = %s, want no differences", got)
	}
}
