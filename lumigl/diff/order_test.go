package diff_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/diff"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// deleted returns the keys of the deleted resources in delta order.
func deleted(d *diff.Delta) []string {
	var keys []string
	for i := range d.Resources {
		if d.Resources[i].Kind == diff.Deleted {
			keys = append(keys, d.Resources[i].Key)
		}
	}
	return keys
}

func TestDeletedOrder(t *testing.T) {
	for _, test := range []struct{ name, old, want string }{
		{"none refers to another", `"a": {}, "b": {}, "c": {}`, "c b a"},
		{"in order", `"a": {}, "b": {"a": {"#ref": "a"}}, "c": {}, "d": {"b": {"#ref": "b"}}`, "d c b a"},
		{"the other way round", `"a": {"b": {"#ref": "b"}}, "b": {"c": {"#ref": "c"}}, "c": {}`, "a b c"},
		{"mixed", `"a": {"x": [{"#ref": "c"}, {"#ref": "d"}]}, "b": {}, "c": {}, "d": {}`, "b a d c"},
		{"two ways", `"a": {"x": [{"#ref": "b"}, {"#ref": "c"}]}, "b": {"c": {"#ref": "c"}}, "c": {}`, "a b c"},
		{"over what stays", `"a": {"x": {"#ref": "stays"}}, "stays": {"b": {"#ref": "b"}}, "b": {}`, "b a"},
		{"itself", `"a": {"a": {"#ref": "a"}}, "b": {}`, "b a"},
		{"circle", `"a": {"b": {"#ref": "b"}}, "b": {"c": {"#ref": "c"}}, "c": {"a": {"#ref": "a"}}, "d": {"a": {"#ref": "a"}}`, "d a b c"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := compare(t, parse(t, `{"vertices": {`+test.old+`}}`), parse(t, `{"vertices": {"stays": {}}}`))
			if diff := cmp.Diff(test.want, strings.Join(deleted(d), " ")); diff != "" {
				t.Errorf("deleted resources mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

// Deleted resources precede their dependencies, no matter in which order they were added.
func TestDeletedOrderRandom(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(rt, "vertices")
		old := &lumigl.Graph{}
		order := rapid.Permutation(numbered(n)).Draw(rt, "order")
		for _, key := range order {
			must.Get(old.Add(key))(rt)
		}
		for i, key := range numbered(n) {
			var to []lumigl.Value
			for range rapid.IntRange(0, min(i, 3)).Draw(rt, "references") {
				to = append(to, lumigl.ReferenceTo(old.Vertex(numbered(n)[rapid.IntRange(0, i-1).Draw(rt, "to")])))
			}
			old.Vertex(key).Properties = lumigl.ObjectOf(lumigl.Member{Key: "to", Value: lumigl.ListOf(to...)})
		}
		keys := deleted(compare(t, old, &lumigl.Graph{}))
		if len(keys) != n {
			rt.Fatalf("%d resources were deleted, want %d: %v", len(keys), n, keys)
		}
		for place, key := range keys {
			for target := range old.Vertex(key).Properties.References() {
				if slices.Index(keys, target.Key()) < place {
					rt.Fatalf("deleted resource %s follows its dependency %s: %v", key, target.Key(), keys)
				}
			}
		}
	})
}

// numbered returns the keys of n vertices.
func numbered(n int) []string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprint("#", i+1))
	}
	return all
}
