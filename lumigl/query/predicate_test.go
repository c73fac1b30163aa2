package query_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/query"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestPredicates(t *testing.T) {
	t.Parallel()
	s := must.Get(lumigl.ParseSnapshot(snapshot))(t)
	vertices := map[string]lumigl.Value{}
	for v := range s.Vertices() {
		vertices[v.URN().Name()] = v.Properties
	}
	text := lumigl.TextOf
	password := vertices["db"].Get("password")
	for _, test := range []struct {
		predicate string
		value     lumigl.Value
		want      string
	}{
		{`value.startsWith("vpc-")`, text("vpc-1"), "true"},
		{`value.startsWith("vpc-")`, text("subnet-1"), "false"},
		{`value.startsWith("vpc-")`, lumigl.IntOf(1), "false"},
		{`value.none == 1`, lumigl.ObjectOf(), "false"},
		{`value == null`, lumigl.NullValue(), "true"},
		{`value.vpc.ref.endsWith("::main")`, vertices["a"], "true"},
		{`has(value.password.secret)`, vertices["db"], "false"},
		{`value.password == "hush"`, vertices["db"], "true"},
		{`value.size() == 4`, password, "true"},
		{`value == "hush"`, password.With("value", password), "true"},
		{`int(value.password) == 1`, vertices["db"], "the error is hidden because the value contains a secret"},
		{`1 / value == 1`, lumigl.IntOf(0), "division by zero"},
		{`value`, text("x"), "the expression must be a bool, got string"},
		{strings.ReplaceAll(slow, "name", "value"), text("x"), "the expression exceeds the cost limit"},

		{`value = 1`, text(""), "expression, 1:7: unknown operator =; to compare, write =="},
		{`size(value)`, text(""), "expression, 1:1: the expression must be a bool, got int"},
		{`valve == 1`, text(""), `expression, 1:1: unknown variable "valve"; did you mean "value"?`},
		{`properties == 1`, text(""), `expression, 1:1: unknown variable "properties"; put strings in quotes, write a property as value.properties; the only variable is value`},
		{`value ~ "x"`, text(""), `expression, 1:7: unknown operator ~; to search in a string, use contains, startsWith, endsWith or matches, as in value.contains("Queue")`},
		{`value like "x"`, text(""), `expression, 1:7: unknown operator like; to search in a string, use contains, startsWith, endsWith or matches, as in value.contains("Queue")`},
		{`"x".y == ""`, text(""), `expression, 1:4: a string has no fields, only functions, as in value.contains("Queue")`},
		{`has(value)`, text(""), `expression, 1:5: has expects a property, as in has(value.tags)`},
		{`has(value.a, 1)`, text(""), `expression, 1:4: has expects one property, as in has(value.tags)`},
		{`value.exists(d)`, text(""), `expression, 1:13: wrong arguments for exists; write it as in value.exists(d, d.contains("web"))`},
		{`value.exists("d", true)`, text(""), `expression, 1:14: the first argument must be a variable name for each element, as in value.exists(d, d.contains("web"))`},
		{`value.matches("(")`, text(""), `expression, 1:16: invalid regular expression "(": missing closing )`},
	} {
		p, err := query.CompilePredicate(test.predicate)
		var holds bool
		if err == nil {
			holds, err = p.Holds(test.value)
		}
		got := fmt.Sprint(holds)
		if err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("predicate %s:\ngot  %s\nwant %s", test.predicate, got, test.want)
		}
	}
}
