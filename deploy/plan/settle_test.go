package plan_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/diff"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// compare settles what is desired and compares it with the state.
func compare(state, desired *lumigl.Snapshot, types plan.Types) (*diff.Delta, error) {
	settled, err := plan.Settle(state, desired, types)
	if err != nil {
		return nil, err
	}
	return diff.Compare(state, settled.Snapshot, diff.Options{Replaces: types.Replaces, Recognized: &settled.Recognized})
}

func parse(t testing.TB, src string) lumigl.Document {
	t.Helper()
	doc, err := lumigl.Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func text(t testing.TB, doc lumigl.Document) string {
	t.Helper()
	b, err := lumigl.Append(nil, doc)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestAddSchema holds that types are added to those that are there, and that structs are not resources.
func TestAddSchema(t *testing.T) {
	got := plan.Types{Replaces: diff.Replaces{"p:m:R": {"c"}}}
	got.AddSchema(&schema.Package{Modules: []*schema.Module{{Files: []*schema.File{{Decls: []schema.Decl{
		&schema.Struct{Properties: []*schema.Property{{Name: "a", Out: true}}},
		&schema.Resource{Token: "p:m:R", Properties: []*schema.Property{{Name: "a", Out: true}, {Name: "b"}, {Name: "d", Replaces: true}}},
	}}}}}})
	if d := cmp.Diff(plan.Types{
		Replaces: diff.Replaces{"p:m:R": {"c", "d"}}, Outputs: map[tokens.Type][]string{"p:m:R": {"a"}},
	}, got); d != "" {
		t.Error(d)
	}
}

// drawSnapshot draws a state, or what a program may want in its place: it may have no names for resources, refer to the
// properties of some, and not hash files.
func drawSnapshot(t *rapid.T, isState bool) *lumigl.Snapshot {
	s := &lumigl.Snapshot{}
	var targets []*lumigl.Vertex
	one := func(n int, label string) int { return rapid.IntRange(0, n-1).Draw(t, label) }
	special := func(signature, key string, v lumigl.Value) lumigl.Value {
		return lumigl.ObjectOf(lumigl.Member{Key: wire.Signature, Value: lumigl.TextOf(signature)}, lumigl.Member{Key: key, Value: v})
	}
	var value func(depth int) lumigl.Value
	value = func(depth int) lumigl.Value {
		kind := one(12, "kind")
		switch {
		case kind < 3 && len(targets) > 0:
			name := rapid.SampledFrom([]string{"url", "etag", "name", "text", "none"}).Draw(t, "property")
			return lumigl.PropertyOf(rapid.SampledFrom(targets).Draw(t, "target"), name)
		case kind == 3 && len(targets) > 0:
			return lumigl.ReferenceTo(rapid.SampledFrom(targets).Draw(t, "target"))
		case kind == 4:
			return special(wire.Secret, "value", value(depth-1))
		case kind == 5:
			file := special(wire.Asset, "path", lumigl.TextOf("a"))
			if isState {
				file = file.With("hash", lumigl.TextOf("h"))
			}
			return file
		case kind == 6 && depth > 0:
			all := make([]lumigl.Value, one(4, "elements"))
			for i := range all {
				all[i] = value(depth - 1)
			}
			return lumigl.ListOf(all...)
		case kind == 7 && depth > 0:
			return lumigl.ObjectOf(lumigl.Member{Key: "a", Value: value(depth - 1)}, lumigl.Member{Key: "b", Value: value(depth - 1)})
		case kind == 8 && !isState:
			return lumigl.TextOf(wire.Unknown)
		}
		return lumigl.TextOf(rapid.SampledFrom([]string{"u", "v"}).Draw(t, "text"))
	}
	resource := func(r *lumigl.Vertex) {
		if one(8, "empty") == 0 {
			return
		}
		for _, key := range []string{"name", "key", "text", "url", "etag"} {
			if one(2, "present") == 0 {
				r.Properties = r.Properties.With(key, value(2))
			}
		}
		if one(3, "has an id") == 0 {
			r.ID = fmt.Sprint("i-", one(3, "id"))
		}
		if isState && one(4, "extended") == 0 {
			r.Extensions = lumigl.ObjectOf(lumigl.Member{Key: "e", Value: lumigl.NullValue()})
		}
	}
	drawURN := func() urn.URN {
		name := fmt.Sprint("n", one(3, "name"))
		if !isState && one(2, "unnamed") == 0 {
			name = fmt.Sprint("#", one(3, "number"))
		}
		return urn.URN(inModule + rapid.SampledFrom([]string{"Object", "Bucket", "Other"}).Draw(t, "type") + "::" + name)
	}
	for range one(8, "resources") {
		if r, err := s.Add(drawURN()); err == nil {
			resource(r)
			targets = append(targets, r)
		}
	}
	for range one(3, "pending") * one(2, "is state") {
		r, err := lumigl.NewResource(drawURN())
		if err != nil || !isState {
			continue
		}
		resource(r)
		s.Pending.Operations = append(s.Pending.Operations, lumigl.Operation{Kind: lumigl.UpdateOperation, Resource: r})
	}
	return s
}

// TestHostileLooks compares many resources that look the same, of which each refers to one more than the one before it.
func TestHostileLooks(t *testing.T) {
	const n = 10_000
	build := func(named bool) *lumigl.Snapshot {
		s := &lumigl.Snapshot{}
		add := func(kind string, i int, properties ...lumigl.Member) *lumigl.Vertex {
			name := fmt.Sprint("#", i+1)
			if named {
				name = fmt.Sprint("n", i)
			}
			r, err := s.Add(urn.URN("urn:lumi:prod::p:index::s:x:" + kind + "::" + name))
			if err != nil {
				t.Fatal(err)
			}
			r.Properties = lumigl.ObjectOf(properties...)
			return r
		}
		var last *lumigl.Vertex
		for i := range n {
			chained := []lumigl.Member{{Key: "i", Value: lumigl.IntOf(int64(i))}}
			if last != nil {
				chained = append(chained, lumigl.Member{Key: "of", Value: lumigl.ReferenceTo(last)})
			}
			same := lumigl.TextOf("u")
			if named {
				chained = append(chained, lumigl.Member{Key: "url", Value: same})
			}
			last = add("Bucket", i, chained...)
			if !named {
				same = lumigl.PropertyOf(last, "url")
			}
			add("Other", i, lumigl.Member{Key: "a", Value: same})
		}
		return s
	}
	state, desired := build(true), build(false)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	d, err := compare(state, desired, plan.Types{Outputs: storage.Outputs})
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 128<<20 {
		t.Errorf("%d MiB allocated", used>>20)
	}
	if len(d.Named) != n {
		t.Errorf("%d named, want %d", len(d.Named), n)
	}
}
