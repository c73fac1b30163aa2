package desired

import (
	"testing"

	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/wire"
)

func TestLimits(t *testing.T) {
	text := lumigl.TextOf
	vertex := &lumigl.Vertex{}
	reference := lumigl.PropertyOf(vertex, "p")
	unique := &schema.Constraints{Unique: true}
	list := &schema.List{Elem: &schema.Ref{Decl: &schema.Alias{Target: schema.String, Constraints: &schema.Constraints{Equal: "caseless"}}}}
	for name, test := range map[string]struct {
		limits *schema.Constraints
		value  lumigl.Value
		want   string
	}{
		"none":       {nil, text("a"), ""},
		"items":      {&schema.Constraints{MinItems: new(1)}, lumigl.ListOf(), "p: must have at least 1 element, found fewer"},
		"equal":      {unique, lumigl.ListOf(text("a"), text("b"), text("a")), "p: must have no equal elements, but [0] and [2] are equal"},
		"spelling":   {unique, lumigl.ListOf(text("a"), text("b"), text("A")), "p: must have no equal elements, but [0] and [2] are equal"},
		"references": {unique, lumigl.ListOf(reference, lumigl.PropertyOf(vertex, "q")), ""},
		"one":        {unique, lumigl.ListOf(reference, reference), "p: must have no equal elements, but [0] and [1] are equal"},
		"keys": {
			&schema.Constraints{KeyPattern: "^a"}, lumigl.ObjectOf(lumigl.Member{Key: "a", Value: text("")}, lumigl.Member{Key: "b c", Value: text("")}),
			`p["b c"]: the key must match ^a`,
		},
		"secret": {&schema.Constraints{Pattern: "^a"}, signed(wire.Secret, "value", text("b")), "p: must match ^a, found another string"},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := checkLimits(list, test.limits, test.value, "p"); err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("error = %s\nwant %s", got, test.want)
			}
		})
	}
}
