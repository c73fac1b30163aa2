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
		{`int(value.password) == 1`, vertices["db"], "the error is not shown, since the value contains a secret"},
		{`1 / value == 1`, lumigl.IntOf(0), "division by zero"},
		{`value`, text("x"), "the expression has to be true or false; here it is of type string"},
		{strings.ReplaceAll(slow, "name", "value"), text("x"), "the expression takes too long"},

		{`value = 1`, text(""), "expression, 1:7: there is no operator =; to compare, write =="},
		{`size(value)`, text(""), "expression, 1:1: the expression has to be true or false; this is of type int"},
		{`valve == 1`, text(""), `expression, 1:1: there is no variable "valve"; did you mean "value"?`},
		{`properties == 1`, text(""), `expression, 1:1: there is no variable "properties"; a text stands in quotes, a property is value.properties, and the only variable is value`},
		{`value ~ "x"`, text(""), `expression, 1:7: there is no operator ~; a text is looked into with contains, startsWith, endsWith and matches, as in value.contains("Queue")`},
		{`value like "x"`, text(""), `expression, 1:7: there is no operator like; a text is looked into with contains, startsWith, endsWith and matches, as in value.contains("Queue")`},
		{`"x".y == ""`, text(""), `expression, 1:4: there is nothing behind a dot in a string but functions, as in value.contains("Queue")`},
		{`has(value)`, text(""), `expression, 1:5: has takes a property; write has(value.tags)`},
		{`has(value.a, 1)`, text(""), `expression, 1:4: has takes one property, as in has(value.tags)`},
		{`value.exists(d)`, text(""), `expression, 1:13: exists takes other arguments; it is written as in value.exists(d, d.contains("web"))`},
		{`value.exists("d", true)`, text(""), `expression, 1:14: what comes first here is a name of your own for each element, as in value.exists(d, d.contains("web"))`},
		{`value.matches("(")`, text(""), `expression, 1:16: "(" is no regular expression: missing closing )`},
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
			t.Errorf("%s:\ngot  %s\nwant %s", test.predicate, got, test.want)
		}
	}
}
