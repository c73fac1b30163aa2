package lumi_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"
	"pgregory.net/rapid"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/wire"
	"github.com/lumi-idl/lumi/test/kit/expect"
)

func TestIgnore(t *testing.T) {
	tests := []struct {
		name, old, want string
		ignore          []lumi.Path
		diff, kept      string
	}{
		{"nothing", `{"a": 1}`, `{"a": 2}`, nil, "~ a: 1 -> 2\n", `{"a": 2}`},
		{"unchanged values", `{"a": 1, "b": 1}`, `{"a": 2, "b": 1}`, []lumi.Path{"b", "c", "a.b"}, "~ a: 1 -> 2\n", `{"a": 2, "b": 1}`},
		{"modified", `{"a": "x", "b": 1}`, `{"a": "X", "b": 2}`, []lumi.Path{"a"}, "~ b: 1 -> 2\n", `{"a": "x", "b": 2}`},
		{"added", `{}`, `{"a": 1, "b": 2}`, []lumi.Path{"a"}, "+ b: 2\n", `{"b": 2}`},
		{"removed", `{"a": 1, "b": 2}`, `{}`, []lumi.Path{"a"}, "- b: 2\n", `{"a": 1}`},
		{"all", `{"a": [1], "b": 2}`, `{"a": [1, 2], "c": 3}`, []lumi.Path{""}, "", `{"a": [1], "b": 2}`},
		{"no bag", `{"a": 1}`, `{}`, []lumi.Path{""}, "", `{"a": 1}`},
		{"a part", `{"a": {"b": 1, "c": 1}}`, `{"a": {"b": 2, "c": 2}}`, []lumi.Path{"a.b"}, "~ a.c: 1 -> 2\n", `{"a": {"b": 1, "c": 2}}`},
		{"a part of nothing", `{"a": {"b": 1}}`, `{"a": {}}`, []lumi.Path{"a.b"}, "", `{"a": {"b": 1}}`},
		{"a part of what is added", `{}`, `{"a": {"b": 1}}`, []lumi.Path{"a.b"}, "+ a: {\"b\":1}\n", `{"a": {"b": 1}}`},
		{"the outer of two", `{"a": {"b": 1, "c": 1}}`, `{"a": {"b": 2, "d": 2}}`, []lumi.Path{"a.b", "a"}, "", `{"a": {"b": 1, "c": 1}}`},
		{"in a list", `{"a": [{"b": 1}, 2, 3]}`, `{"a": [{"b": 2}, 4, 5]}`, []lumi.Path{"a[0].b", "a[1]"},
			"~ a[2]: 3 -> 5\n", `{"a": [{"b": 1}, 2, 5]}`},
		{"an added element", `{"a": [1]}`, `{"a": [2, 3]}`, []lumi.Path{"a[0]", "a[1]"}, "+ a[1]: 3\n", `{"a": [1, 3]}`},
		{"a removed element", `{"a": [1, 2]}`, `{"a": [3]}`, []lumi.Path{"a[0]", "a[1]"}, "- a[1]: 2\n", `{"a": [1]}`},
		{"with its list", `{"a": [1, 2]}`, `{"a": [3]}`, []lumi.Path{"a"}, "", `{"a": [1, 2]}`},
		{"keys", `{"a": {"b.c": 1, "d[0]": 1, "e\"]": 1, "f": 1}}`, `{"a": {"b.c": 2, "d[0]": 2, "e\"]": 2, "f": 2}}`,
			[]lumi.Path{`a["b.c"]`, `a["d[0]"]`, lumi.Path("a").Key(`e"]`), "a.b", `a["f"]`},
			"~ a.f: 1 -> 2\n", `{"a": {"b.c": 1, "d[0]": 1, "e\"]": 1, "f": 2}}`},
		{"a key that is added", `{"a": {}}`, `{"a": {"b c": 1}}`, []lumi.Path{`a["b c"]`}, "", `{"a": {}}`},
		{"unknown", `{"a": 1}`, `{"a": "$unknown", "b": "$unknown"}`, []lumi.Path{"a"}, "+ b: (not known yet)\n", `{"a": 1, "b": "$unknown"}`},
		{"an asset", `{"a": {"$sig": "$asset", "text": "1"}}`, `{"a": {"$sig": "$asset", "text": "2"}}`,
			[]lumi.Path{"a"}, "", `{"a": {"$sig": "$asset", "text": "1"}}`},
		{"a part of an asset", `{"a": {"$sig": "$asset", "text": "1"}}`, `{"a": {"$sig": "$asset", "text": "2"}}`,
			[]lumi.Path{"a.text"}, "~ a: {\"text\":\"1\"} -> {\"text\":\"2\"}\n", `{"a": {"$sig": "$asset", "text": "2"}}`},
		{"a secret", `{"a": {"$sig": "$secret", "value": "x"}}`, `{"a": "X"}`, []lumi.Path{"a"}, "", `{"a": {"$sig": "$secret", "value": "x"}}`},
		{"a part of a secret", `{"a": {"$sig": "$secret", "value": {"b": 1}}}`, `{"a": {"b": 2}}`, []lumi.Path{"a.b"},
			"~ a: (secret) -> (secret)\n", `{"a": {"b": 2}}`},
		{"secret now", `{"a": {"b": "x"}}`, `{"a": {"b": {"$sig": "$secret", "value": "X"}}}`, []lumi.Path{"a.b"}, "",
			`{"a": {"b": {"$sig": "$secret", "value": "x"}}}`},
		{"secret inside now", `{"a": {"b": "x"}}`, `{"a": {"b": {"$sig": "$secret", "value": "X"}}}`, []lumi.Path{"a"}, "",
			`{"a": {"$sig": "$secret", "value": {"b": "x"}}}`},
		{"a secret that is new", `{}`, `{"a": {"$sig": "$secret", "value": "X"}}`, []lumi.Path{"a"}, "", `{}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			old, want := bag(t, test.old), bag(t, test.want)
			if test.name == "no bag" {
				want = lumi.Bag{}
			}
			d := lumi.Compare(old, want)
			for _, p := range test.ignore {
				d.Ignore(p)
			}
			expect.Equal(t, test.diff, d.String())
			if d.Empty() != (test.diff == "") || d.Changed("") == d.Empty() {
				t.Errorf("Empty() = %v, Changed(\"\") = %v, want empty %v", d.Empty(), d.Changed(""), test.diff == "")
			}
			if diff := cmp.Diff(bag(t, test.kept).Struct(), d.Kept(old, want).Struct(), protocmp.Transform()); diff != "" {
				t.Errorf("kept (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReplaceIgnored(t *testing.T) {
	d := lumi.Compare(bag(t, `{"a": {"b": 1, "c": 1}, "d": 1, "e": 1}`), bag(t, `{"a": {"b": 2, "c": 2}, "d": 2, "e": 2}`))
	for _, p := range []lumi.Path{"a", "a.b", "d"} {
		d.Replace(p)
	}
	d.Ignore("a.b")
	d.Ignore("d")
	d.Replace("a.b")
	d.Replace("d")
	if got := fmt.Sprint(d.Replaces()); got != "[a]" {
		t.Errorf("Replaces() = %s, want [a]", got)
	}
	if want := "~ a.c: 1 -> 2 (replaces)\n~ e: 1 -> 2\n"; d.String() != want {
		t.Errorf("String() = %s, want %s", d, want)
	}
	for p, want := range map[lumi.Path]bool{"": true, "a": true, "a.b": false, "a.b.x": false, "a.c": true, "a.c.x": true, "d": false} {
		if got := d.Changed(p); got != want {
			t.Errorf("Changed(%q) = %v, want %v", p, got, want)
		}
	}
	d.Ignore("a")
	if got := d.Replaces(); len(got) != 0 {
		t.Errorf("Replaces() = %s, want none", got)
	}
	d.Ignore("e")
	if !d.Empty() || d.Changed("") || len(d.Changes()) != 0 || d.String() != "" {
		t.Errorf("diff = %s, want it to be empty", d)
	}
}

func TestZeroDiff(t *testing.T) {
	var d lumi.Diff
	d.Replace("a")
	d.Ignore("a")
	d.DeleteBeforeReplace()
	if !d.Empty() || d.Changed("") || d.Changed("a") || d.Replaces() != nil || d.Changes() != nil || d.String() != "" {
		t.Errorf("zero Diff = %v, want it to be empty", &d)
	}
}

// Ignoring n changes takes linear time. It would take minutes if each call of Ignore visited all changes.
func TestIgnoreMany(t *testing.T) {
	const n = 100_000
	old, want := &structpb.ListValue{}, &structpb.ListValue{}
	for i := range n {
		old.Values = append(old.Values, structpb.NewNumberValue(float64(i)))
		want.Values = append(want.Values, structpb.NewNumberValue(float64(i+1)))
	}
	bagOf := func(list *structpb.ListValue) lumi.Bag {
		return lumi.BagOf(&structpb.Struct{Fields: map[string]*structpb.Value{"a": structpb.NewListValue(list)}})
	}
	d := lumi.Compare(bagOf(old), bagOf(want))
	for i := range n - 1 {
		d.Ignore(lumi.Path("a").Index(i))
		if !d.Changed("a") {
			t.Fatal("Changed(\"a\") = false, want true")
		}
	}
	expect.Equal(t, "~ a[99999]: 99999 -> 100000\n", d.String())
	kept := d.Kept(bagOf(old), bagOf(want)).Struct().GetFields()["a"].GetListValue().GetValues()
	if len(kept) != n || kept[n-2].GetNumberValue() != n-2 || kept[n-1].GetNumberValue() != n {
		t.Errorf("kept %v at the end, want %d and %d", kept[n-2:], n-2, n)
	}
}

// For any bags and ignored paths, the kept properties differ from the old ones only at other paths.
func TestIgnoreRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old, want := drawBag(t, "old"), drawBag(t, "want")
		d := lumi.Compare(old, want)
		all := d.Changes()
		var places []lumi.Path
		for _, c := range all {
			places = append(places, placesOf(c.Path)...)
		}
		slices.Sort(places)
		places = slices.Compact(append(places, "a", "nothing"))
		ignored := rapid.SliceOfN(rapid.SampledFrom(places), 0, 5).Draw(t, "ignored")
		var left []lumi.Change
		for _, c := range all {
			if !slices.ContainsFunc(ignored, func(p lumi.Path) bool { return drops(p, c) }) {
				left = append(left, c)
			}
		}
		for _, p := range ignored {
			d.Ignore(p)
		}
		if diff := cmp.Diff(lines(left), lines(d.Changes())); diff != "" {
			t.Fatalf("remaining changes (-want +got):\n%s", diff)
		}
		kept := d.Kept(old, want)
		if diff := cmp.Diff(lines(left), lines(lumi.Compare(old, kept).Changes())); diff != "" {
			t.Fatalf("kept %s (-want +got):\n%s", kept, diff)
		}
		stillSecret(t, structpb.NewStructValue(want.Struct()), structpb.NewStructValue(kept.Struct()))

		for _, b := range []lumi.Bag{old, want} {
			for name := range b.Struct().GetFields() {
				d.Ignore(lumi.Path("").Key(name))
			}
		}
		if !d.Empty() || !lumi.Compare(old, d.Kept(old, want)).Empty() {
			t.Fatalf("ignored all of %s, kept %s", d, d.Kept(old, want))
		}
	})
}

// placesOf returns a path and its parents.
func placesOf(p lumi.Path) []lumi.Path {
	places := []lumi.Path{""}
	for _, part := range wire.PathParts(string(p)) {
		places = append(places, places[len(places)-1]+lumi.Path(part))
	}
	return places
}

func drops(p lumi.Path, c lumi.Change) bool {
	if !slices.Contains(placesOf(c.Path), p) {
		return false
	}
	parts := wire.PathParts(string(p))
	last := parts[len(parts)-1]
	element := strings.HasPrefix(last, "[") && !strings.HasPrefix(last, `["`)
	return p != c.Path || !element || c.Kind == lumi.Modified
}

func lines(changes []lumi.Change) []string {
	var lines []string
	for _, c := range changes {
		lines = append(lines, c.String())
	}
	return lines
}

// stillSecret fails the test if a secret in want is not a secret in kept.
func stillSecret(t *rapid.T, want, kept *structpb.Value) {
	switch {
	case isSecret(kept) || isNull(kept):
		return
	case isSecret(want):
		inner := want
		for isSecret(inner) {
			inner = inner.GetStructValue().GetFields()["value"]
		}
		if !isNull(inner) {
			t.Fatalf("kept %v, want a secret", kept)
		}
	}
	for name, field := range want.GetStructValue().GetFields() {
		stillSecret(t, field, kept.GetStructValue().GetFields()[name])
	}
	elems := kept.GetListValue().GetValues()
	for i, elem := range want.GetListValue().GetValues()[:min(len(elems), len(want.GetListValue().GetValues()))] {
		stillSecret(t, elem, elems[i])
	}
}

// drawBag draws a bag from few keys and values, so that two bags are often partly equal.
func drawBag(t *rapid.T, label string) lumi.Bag {
	return lumi.BagOf(&structpb.Struct{Fields: drawFields(3).Draw(t, label)})
}

func drawFields(depth int) *rapid.Generator[map[string]*structpb.Value] {
	return rapid.MapOfN(rapid.SampledFrom([]string{"a", "b c", `d.e[0]"]`}), drawValue(depth), depth, 3)
}

func drawValue(depth int) *rapid.Generator[*structpb.Value] {
	leaves := []*rapid.Generator[*structpb.Value]{
		rapid.Just(structpb.NewNullValue()),
		rapid.Map(rapid.IntRange(0, 2), func(n int) *structpb.Value { return structpb.NewNumberValue(float64(n)) }),
		rapid.Map(rapid.SampledFrom([]string{"x", "y"}), func(text string) *structpb.Value {
			return structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{
				wire.Signature: structpb.NewStringValue(wire.Asset), "text": structpb.NewStringValue(text),
			}})
		}),
	}
	if depth == 0 {
		return rapid.OneOf(leaves...)
	}
	inner := rapid.Deferred(func() *rapid.Generator[*structpb.Value] { return drawValue(depth - 1) })
	list := rapid.Map(rapid.SliceOfN(inner, 0, 3), func(v []*structpb.Value) *structpb.Value {
		return structpb.NewListValue(&structpb.ListValue{Values: v})
	})
	object := rapid.Map(rapid.Deferred(func() *rapid.Generator[map[string]*structpb.Value] { return drawFields(depth - 1) }),
		func(fields map[string]*structpb.Value) *structpb.Value {
			return structpb.NewStructValue(&structpb.Struct{Fields: fields})
		})
	// Make composite values more likely.
	return rapid.OneOf(append(leaves, rapid.Map(inner, lumi.NewSecret), list, list, list, object, object, object, object)...)
}
