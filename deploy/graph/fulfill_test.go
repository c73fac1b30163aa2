package graph_test

import (
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/deploy/graph"
)

const (
	secret  = `{"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "value": "hunter2"}`
	unknown = `"04da6b54-80e4-46f7-96ec-b56ff0331ba9"`
)

func TestFulfills(t *testing.T) {
	t.Parallel()
	v := &graph.Version{}
	for _, p := range []struct{ name, form, result string }{
		{"ab", `{"verb": {"request": {"object": {"a": "number", "b": "number"}}, "response": "number"}}`, `"https://ab"`},
		{"deep", `{"object": {"login": {"object": {"password": "string"}}}}`, `{"login": {"password": ` + secret + `}}`},
		{"later", `{"list": "number"}`, `[1, ` + unknown + `]`},
		{"list", `{"list": "number"}`, `[1, 2]`},
		{"long", `"string"`, `"` + strings.Repeat("x", 100) + `"`},
		{"name", `"string"`, `"web"`},
		{"on", `"bool"`, `true`},
		{"password", `"string"`, secret},
		{"planned", `"number"`, ``},
		{"size", `"number"`, `5`},
	} {
		provided := graph.Provided{Name: p.name, Type: typeOf(t, p.form)}
		if p.result != "" {
			provided.Result = value(t, p.result)
		}
		v.Provides = append(v.Provides, provided)
	}
	for _, test := range []struct{ name, form, where, want string }{
		{"size", `"number"`, ``, ""},
		{"size", `"any"`, `value > 4 && value < 5.5`, ""},
		{"size", `"number"`, `value > 10`, `"size" is 5, which does not satisfy the predicate value > 10`},
		{"size", `"string"`, `value > 10`, `"size" is number, not string`},
		{"sizes", `"number"`, ``, `"sizes" is not provided (did you mean "size"?)`},
		{"throughput", `"number"`, ``, `"throughput" is not provided`},
		{
			"ab", `{"verb": {"request": {"object": {"a": "number"}}, "response": "number"}}`, ``,
			`"ab" is verb {a: number, b: number} → number, not verb {a: number} → number: request.b: required, but callers do not send it`,
		},
		{"name", `"string"`, `value.startsWith("db")`, `"name" is "web", which does not satisfy the predicate value.startsWith("db")`},
		{"on", `"bool"`, `!value`, `"on" is true, which does not satisfy the predicate !value`},
		{"list", `{"list": "number"}`, `value.all(n, n < 3)`, ""},
		{"list", `{"list": "number"}`, `value.size() > 2`, `"list" does not satisfy the predicate value.size() > 2`},
		{"long", `"string"`, `value == "x"`, `"long" does not satisfy the predicate value == "x"`},

		// Predicates may depend on secrets, but secrets are never shown.
		{"password", `"string"`, `value.size() == 7`, ""},
		{"password", `"string"`, `value.size() > 10`, `"password" does not satisfy the predicate value.size() > 10`},
		{"password", `"string"`, `int(value) > 1`, `cannot evaluate the predicate for "password": int(value) > 1: the error is hidden because the value contains a secret`},
		{"deep", `"any"`, `value.login.password == "hunter2"`, ""},
		{"deep", `"any"`, `"x".matches(value.login.password + "(")`, `cannot evaluate the predicate for "deep": "x".matches(value.login.password + "("): the error is hidden because the value contains a secret`},

		{"planned", `"number"`, ``, ""},
		{"planned", `"number"`, `value > 1`, "unknown"},
		{"planned", `"string"`, `value > 1`, `"planned" is number, not string`},
		{"later", `{"list": "number"}`, `value[0] == 1`, "unknown"},
		{"later", `{"list": "number"}`, `valeu[0] == 1`, `invalid predicate for "later": expression, 1:1: unknown variable "valeu"; did you mean "value"?`},
		{
			"size", `"number"`, `a == b`, `invalid predicate for "size": ` +
				`expression, 1:1: unknown variable "a"; put strings in quotes, write a property as value.a; the only variable is value; ` +
				`expression, 1:6: unknown variable "b"; put strings in quotes, write a property as value.b; the only variable is value`,
		},
		{"size", `"number"`, `value`, `cannot evaluate the predicate for "size": value: the expression must be a bool, got int`},
	} {
		answer := v.Fulfills(graph.Constraint{Module: "a", Name: test.name, Type: typeOf(t, test.form), Where: test.where})
		got := answer.Reason
		if answer.Unknown {
			got += "unknown"
		}
		if got != test.want {
			t.Errorf("Fulfills(%s where %s) =\n     %s\nwant %s", test.name, test.where, got, test.want)
		}
	}
}
