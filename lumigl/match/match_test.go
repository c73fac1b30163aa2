package match_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/match"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// resources parses resources of one type, each given by name, id, and properties.
func resources(t *testing.T, all ...[3]string) []*lumigl.Vertex {
	t.Helper()
	var texts []string
	for _, r := range all {
		texts = append(texts, fmt.Sprintf(`"urn:lumi:prod::p:index::a:b:C::%s": {"type": "a:b:C", "properties": {%s}}`, r[0], r[2]))
	}
	s := must.Get(lumigl.ParseSnapshot(`{"resources": {` + strings.Join(texts, ", ") + `}}`))(t)
	var vertices []*lumigl.Vertex
	for r := range s.Vertices() {
		r.ID = all[len(vertices)][1]
		vertices = append(vertices, r)
	}
	return vertices
}

func TestRecognize(t *testing.T) {
	ref := func(name string) string { return `"of": {"#ref": "urn:lumi:prod::p:index::a:b:C::` + name + `"}` }
	for _, test := range []struct {
		name       string
		olds, news [][3]string
		want       string
	}{
		{"the only one", [][3]string{{"a", "1", `"x": 1, "y": 2`}}, [][3]string{{"b", "", `"y": 2, "x": 1`}}, "b was a"},
		{"another", [][3]string{{"a", "", `"x": 1`}}, [][3]string{{"b", "", `"x": 2`}}, ""},
		{"another id", [][3]string{{"a", "1", `"x": 1`}}, [][3]string{{"b", "2", `"x": 1`}}, ""},
		{"two of one", [][3]string{{"a", "", ""}}, [][3]string{{"b", "", ""}, {"c", "", ""}}, ""},
		{"one of two", [][3]string{{"a", "", ""}, {"b", "", ""}}, [][3]string{{"c", "", ""}}, ""},
		{"ids tell apart", [][3]string{{"a", "1", ""}, {"b", "2", ""}}, [][3]string{{"c", "2", ""}, {"d", "1", ""}}, "c was b, d was a"},
		{"the one that is left", [][3]string{{"a", "1", ""}, {"b", "", ""}}, [][3]string{{"c", "", ""}, {"d", "1", ""}}, "c was b, d was a"},
		{"what refers to it", [][3]string{{"a", "", `"x": 1`}, {"b", "", ref("a")}}, [][3]string{{"c", "", `"x": 1`}, {"d", "", ref("c")}}, "c was a, d was b"},
		{"what refers to a new one", [][3]string{{"a", "", `"x": 1`}, {"b", "", ref("a")}}, [][3]string{{"c", "", `"x": 2`}, {"d", "", ref("c")}}, ""},
		{"nothing old", nil, [][3]string{{"a", "", ""}}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, p := range match.Recognize(resources(t, test.olds...), resources(t, test.news...)) {
				got = append(got, p.New.URN().Name()+" was "+p.Old.URN().Name())
			}
			if d := cmp.Diff(test.want, strings.Join(got, ", ")); d != "" {
				t.Errorf("Recognize mismatch (-want +got):\n%s", d)
			}
		})
	}
}

func TestHasher(t *testing.T) {
	values := rapid.Custom(func(rt *rapid.T) lumigl.Value {
		texts := rapid.SampledFrom([]string{`1`, `1.0`, `10e-1`, `"1"`, `true`, `false`, `null`, `[]`, `{}`, `[1, 2]`, `[2, 1]`,
			`{"a": 1, "b": 2}`, `{"b": 2, "a": 1.0}`, `{"a": 2, "b": 1}`, `{"a": {"b": 1}}`, `[[1], 2]`, `[1, [2]]`})
		return must.Get(lumigl.Parser{}.ParseValue(texts.Draw(rt, "value")))(rt)
	})
	rapid.Check(t, func(rt *rapid.T) {
		a, b := values.Draw(rt, "a"), values.Draw(rt, "b")
		h := match.Hasher{Work: match.Work(0)}
		if x, y := h.Value(a), h.Value(b); (x == y) != a.Equal(b) {
			rt.Fatalf("hashes = %x and %x for values with Equal = %t", x, y, a.Equal(b))
		}
		if h = (match.Hasher{Work: 1}); h.Value(a) != 0 || h.Work > 0 {
			rt.Fatal("the hash is not 0, or the budget is not used up")
		}
	})
}
