package constraint_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/internal/constraint"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

type equality = constraint.Equality

// The test of @lumi/lumi reads the same table.
func TestEqualStrings(t *testing.T) {
	var groups []struct {
		As               string
		Equal, Different [][2]string
	}
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile("testdata/equal.json"))(t), &groups))
	var names []string
	for _, g := range groups {
		names = append(names, g.As)
		e := &equality{As: g.As}
		for _, pair := range g.Equal {
			if e.Identity(pair[0]) != e.Identity(pair[1]) {
				t.Errorf("%s: %q and %q differ: %s, %s", g.As, pair[0], pair[1], e.Identity(pair[0]), e.Identity(pair[1]))
			}
		}
		for _, pair := range g.Different {
			if e.Identity(pair[0]) == e.Identity(pair[1]) {
				t.Errorf("%s: %q and %q are equal: %s", g.As, pair[0], pair[1], e.Identity(pair[0]))
			}
		}
	}
	expect.Equal(t, constraint.Equalities(), append(names, constraint.Set))
	deep := strings.Repeat("[", 502) + strings.Repeat("]", 502)
	if e := (&equality{As: "json"}); e.Identity(deep) == e.Identity(deep+" ") {
		t.Error("read JSON that is too deep")
	}
}

func TestEqualParts(t *testing.T) {
	caseless := &equality{As: "caseless"}
	rule := &equality{Properties: map[string]*equality{"name": caseless, "port": nil}}
	rule.Properties["nested"] = &equality{As: constraint.Set, Elements: rule}
	for _, test := range []struct {
		of             *equality
		old, now, want string
	}{
		{caseless, `"A"`, `"a"`, "[]"},
		{caseless, `"A"`, `"A"`, ""},
		{caseless, `"A"`, `null`, ""},
		{&equality{As: "set"}, `["a", "b"]`, `["b", "a", "b"]`, "[]"},
		{&equality{As: "set"}, `["a", "b"]`, `["b", "c"]`, ""},
		{&equality{As: "set", Elements: caseless}, `["a", "B"]`, `["b", "A"]`, "[]"},
		{&equality{As: "set", Elements: caseless}, `["a", "B"]`, `["A", "c"]`, ""},
		{&equality{Elements: caseless}, `["a", "B"]`, `["A", "c"]`, "[0]"},
		{&equality{Elements: caseless}, `{"x": "a", "y": "b", "z": "C"}`, `{"x": "A", "y": "c", "z": "c"}`, "[x][z]"},
		{&equality{Elements: caseless}, `{"x": "a"}`, `{"X": "a"}`, ""},
		{rule, `{"name": "a", "port": 1}`, `{"name": "A", "port": 1}`, "[]"},
		{rule, `{"name": "a", "port": 1}`, `{"name": "A", "port": 2}`, "[name]"},
		{rule, `{"port": 1, "nested": [{"name": "a"}, {"name": "b"}]}`, `{"port": 2, "nested": [{"name": "B"}, {"name": "A", "port": null}]}`, "[nested]"},
		{rule, `{"nested": [{"nested": [{"port": 1}, {"port": 2}]}]}`, `{"nested": [{"nested": [{"port": 2}, {"port": 1}]}]}`, "[]"},
		{nil, `"A"`, `"a"`, ""},
		{&equality{As: "set"}, `"a"`, `["a"]`, ""},
	} {
		var old, now any
		must.Do(t, json.Unmarshal([]byte(test.old), &old))
		must.Do(t, json.Unmarshal([]byte(test.now), &now))
		got := ""
		test.of.Equal(old, now, nil, func(path []any) { got += fmt.Sprint(path) })
		expect.Equal(t, test.want, got, test.old, test.now)
	}
	rule.Equal("a", constraint.Unknown{}, nil, func([]any) { t.Error("an unknown value is equal to another") })
	(&equality{As: constraint.Set}).Equal([]any{"a"}, []any{"a", constraint.Unknown{}}, nil, func([]any) { t.Error("an unknown element is equal") })
	if !rule.Any() {
		t.Error("Any() = false for a list with a rule, want true")
	}
	if (&equality{Elements: &equality{}}).Any() || (*equality)(nil).Any() {
		t.Error("Any() = true without rules, want false")
	}
	plain := &equality{Properties: map[string]*equality{}}
	if plain.Properties["self"] = plain; plain.Any() {
		t.Error("Any() = true for a recursive object without rules, want false")
	}
}
