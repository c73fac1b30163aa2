package expr_test

import (
	"strconv"
	"testing"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/expr"
	"github.com/lumi-idl/lumi/runtime/wire"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestFormat(t *testing.T) {
	show := func(v lumigl.Value) string {
		if target, property, ok := v.Target(); ok {
			return target.Key() + "." + property
		}
		if s, ok := v.Text(); ok {
			return strconv.Quote(s)
		}
		return v.Kind().String()
	}
	g := &lumigl.Graph{}
	bucket := must.Get(g.Add("bucket"))(t)
	expression := func(members ...lumigl.Member) lumigl.Value {
		return lumigl.ObjectOf(append(members, lumigl.Member{Key: wire.Signature, Value: lumigl.TextOf(wire.Expression)})...)
	}
	of := func(key string, v lumigl.Value) lumigl.Value { return expression(lumigl.Member{Key: key, Value: v}) }
	get := func(v lumigl.Value, path string) lumigl.Value {
		return expression(lumigl.Member{Key: "get", Value: v}, lumigl.Member{Key: "path", Value: lumigl.TextOf(path)})
	}
	arn := lumigl.PropertyOf(bucket, "arn")
	for _, test := range []struct {
		v    lumigl.Value
		want string
	}{
		{of("interpolate", lumigl.ListOf(arn, lumigl.TextOf("/*"))), "`${bucket.arn}/*`"},
		{of("interpolate", lumigl.ListOf(lumigl.TextOf("a \"b\" `c` ${d} \\e\n"), lumigl.IntOf(1))), "`a \"b\" \\`c\\` \\${d} \\\\e\\n${a number}`"},
		{of("interpolate", lumigl.ListOf(get(arn, "rules[0].id"), lumigl.TextOf(`"`))), "`${bucket.arn.rules[0].id}\"`"},
		{of("interpolate", lumigl.ListOf()), "``"},
		{of("jsonStringify", of("interpolate", lumigl.ListOf(arn))), "jsonStringify(`${bucket.arn}`)"},
		{of("jsonStringify", lumigl.ObjectOf()), "jsonStringify(an object)"},
		{get(get(arn, "[0]"), `["a b"]`), `bucket.arn[0]["a b"]`},
		{expr.UniqueName("photos"), `uniqueName("photos")`},
		{expr.UniqueName("photos").With("length", lumigl.IntOf(12)), `uniqueName("photos", {length: a number})`},
		{of("interpolate", lumigl.TextOf("x")), ""},
		{of("other", lumigl.TextOf("x")), ""},
		{arn, ""},
	} {
		if got, ok := expr.Format(test.v, show); got != test.want || ok != (test.want != "") {
			t.Errorf("Format = %s, %t, want %s", got, ok, test.want)
		}
	}
	for _, test := range []struct {
		v, content lumigl.Value
		want       string
	}{
		{of("jsonStringify", arn), arn, "jsonStringify"},
		{of("jsonStringify", get(of("interpolate", lumigl.ListOf(arn)), "a.b")), lumigl.ListOf(arn), "jsonStringify get a.b interpolate"},
		{expr.UniqueName("photos"), lumigl.TextOf("photos"), "uniqueName"},
		{of("other", arn), of("other", arn), ""},
		{arn, arn, ""},
	} {
		if what, content := expr.Open(test.v); what != test.want || !content.Equal(test.content) {
			t.Errorf("Open = %q, %v, want %q, %v", what, content, test.want, test.content)
		}
	}
}
