package lumigl_test

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/wire"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestAccessors(t *testing.T) {
	g := must.Get(lumigl.ParseGraph(`{"about": 1, "vertices": {"a": {
		"null": null, "yes": true, "no": false, "int": -7.0e1, "big": 1e400, "half": 0.5, "text": "t", "list": [1, [2]],
		"object": {"k": {"#ref": "a", "property": "p"}}, "ref": {"#ref": "a"}}}}`))(t)
	a := g.Vertex("a")
	p := a.Properties
	if g.Vertex("b") != nil || g.Len() != 1 || g.Base() != g || !g.Field("about").Equal(lumigl.IntOf(1)) || g.Field("x").Exists() {
		t.Error("Vertex, Len, Base, or Field returned a wrong result")
	}
	if text, ok := p.Get("text").Text(); text != "t" || !ok {
		t.Errorf("Text = %q, %t, want \"t\", true", text, ok)
	}
	if yes, ok := p.Get("yes").Bool(); !yes || !ok {
		t.Errorf("Bool of true = %t, %t, want true, true", yes, ok)
	}
	if no, ok := p.Get("no").Bool(); no || !ok {
		t.Errorf("Bool of false = %t, %t, want false, true", no, ok)
	}
	if !p.Get("yes").Equal(lumigl.BoolOf(true)) || !p.Get("no").Equal(lumigl.BoolOf(false)) {
		t.Error("Equal returned false for equal booleans")
	}
	if n, ok := p.Get("int").Int(); n != -70 || !ok {
		t.Errorf("Int = %d, %t, want -70, true", n, ok)
	}
	if f, ok := p.Get("half").Float(); f != 0.5 || !ok {
		t.Errorf("Float = %g, %t, want 0.5, true", f, ok)
	}
	if _, ok := p.Get("half").Int(); ok {
		t.Error("Int returned true for a fraction")
	}
	if _, ok := p.Get("big").Float(); ok {
		t.Error("Float returned true for 1e400")
	}
	if literal, ok := p.Get("big").Literal(); literal != "1e+400" || !ok {
		t.Errorf("Literal = %s, %t, want 1e+400, true", literal, ok)
	}
	if v, property, ok := p.Get("object").Get("k").Target(); v != a || property != "p" || !ok {
		t.Errorf("Target = %v, %q, %t, want %v, \"p\", true", v, property, ok, a)
	}
	if v, property, ok := p.Get("ref").Target(); v != a || property != "" || !ok {
		t.Errorf("Target = %v, %q, %t, want %v, \"\", true", v, property, ok, a)
	}
	if n := p.Get("list").At(1).At(0); !n.Equal(lumigl.IntOf(2)) || p.Get("list").Len() != 2 || p.Len() != 10 {
		t.Errorf("At(1).At(0) = %v, want 2, or Len is wrong", n)
	}
	for _, v := range []lumigl.Value{{}, p.Get("none"), p.Get("text").Get("x"), p.Get("list").At(2), p.Get("list").At(-1), p.At(0)} {
		if v.Exists() || v.Kind() != lumigl.Absent || v.Len() != 0 || v.Get("x").At(1).Exists() {
			t.Errorf("value = %v, want the absent value", v)
		}
	}
	kinds := ""
	for _, v := range p.Members() {
		kinds += v.Kind().String() + ", "
	}
	const want = "null, a boolean, a boolean, a number, a number, a number, a string, a list, an object, a reference, "
	if kinds != want {
		t.Errorf("kinds = %s, want %s", kinds, want)
	}
	if lumigl.Kind(99).String() != "Kind(99)" || lumigl.Absent.String() != "nothing" {
		t.Errorf("String = %q and %q, want \"Kind(99)\" and \"nothing\"", lumigl.Kind(99), lumigl.Absent)
	}
}

func TestAccessorsOtherKinds(t *testing.T) {
	values := map[string]lumigl.Value{
		"absent": {}, "null": lumigl.NullValue(), "bool": lumigl.BoolOf(true), "number": lumigl.IntOf(1), "text": lumigl.TextOf("1"),
		"list": lumigl.ListOf(lumigl.IntOf(1)), "object": bag(pair("k", lumigl.IntOf(1))), "reference": lumigl.ReferenceTo(nil),
	}
	for name, v := range values {
		_, isText := v.Text()
		_, isBool := v.Bool()
		_, isFloat := v.Float()
		_, isInt := v.Int()
		_, isNumber := v.Literal()
		_, _, isReference := v.Target()
		for kind, is := range map[string]bool{
			"text": isText, "bool": isBool, "number": isFloat || isInt || isNumber, "reference": isReference,
			"list": v.At(0).Exists(), "object": v.Get("k").Exists(),
		} {
			if is != (kind == name) {
				t.Errorf("%s accepted as %s = %t, want %t", name, kind, is, !is)
			}
		}
		for other, w := range values {
			if v.Equal(w) != (name == other) {
				t.Errorf("Equal(%s, %s) = %t, want %t", name, other, v.Equal(w), name == other)
			}
		}
	}
}

func TestWith(t *testing.T) {
	one, two := lumigl.IntOf(1), lumigl.IntOf(2)
	v := bag(pair("a", one), pair("b", one))
	for _, test := range []struct {
		name string
		got  lumigl.Value
		keys []string
		want lumigl.Value
	}{
		{"replaced", v.With("a", two), []string{"a", "b"}, bag(pair("a", two), pair("b", one))},
		{"added", v.With("c", two), []string{"a", "b", "c"}, bag(pair("a", one), pair("b", one), pair("c", two))},
		{"removed", v.With("a", lumigl.Value{}), []string{"b"}, bag(pair("b", one))},
		{"not there", v.With("c", lumigl.Value{}), []string{"a", "b"}, v},
		{"no object", one.With("a", two), []string{"a"}, bag(pair("a", two))},
	} {
		var keys []string
		for key := range test.got.Members() {
			keys = append(keys, key)
		}
		if !test.got.Equal(test.want) || !slices.Equal(keys, test.keys) {
			t.Errorf("%s: With returned an object with keys %v, want %v", test.name, keys, test.keys)
		}
	}
	if !v.Equal(bag(pair("b", one), pair("a", one))) {
		t.Error("With changed its receiver, or Equal depends on the key order")
	}
}

func TestRetarget(t *testing.T) {
	g := &lumigl.Graph{}
	a, b := vertex(t, g, "a"), vertex(t, g, "b")
	v := bag(pair("x", lumigl.ListOf(lumigl.PropertyOf(a, "p"), lumigl.TextOf("a"))), pair("y", lumigl.ReferenceTo(b)))
	swap := func(v *lumigl.Vertex) *lumigl.Vertex {
		if v == a {
			return b
		}
		return nil
	}
	w := v.Retarget(swap)
	if target, property, _ := w.Get("x").At(0).Target(); target != b || property != "p" {
		t.Errorf("Target after Retarget = %v, %q, want %v, \"p\"", target, property, b)
	}
	if target, _, ok := w.Get("y").Target(); !ok || target.Key() != "" {
		t.Errorf("Target of a reference to nil = %v, %t, want a vertex without a key, true", target, ok)
	}
	if target, _, _ := v.Get("y").Target(); target != b {
		t.Error("Retarget changed its receiver")
	}
	seen := 0
	for range v.References() {
		seen++
		break
	}
	if seen != 1 {
		t.Errorf("References yielded %d values after a break, want 1", seen)
	}
}

func TestFloatOf(t *testing.T) {
	for f, want := range map[float64]string{
		0: "0", 0.1: "0.1", 1e21: "1e+21", 1e20: "100000000000000000000", 1e-7: "1e-7", -1.5e-6: "-0.0000015",
		math.MaxFloat64: "1.7976931348623157e+308", math.SmallestNonzeroFloat64: "5e-324",
	} {
		v, ok := lumigl.FloatOf(f)
		if literal, _ := v.Literal(); literal != want || !ok {
			t.Errorf("Literal of FloatOf(%g) = %s, want %s", f, literal, want)
		}
	}
	v, _ := lumigl.FloatOf(math.Copysign(0, -1))
	if literal, _ := v.Literal(); literal != "-0" {
		t.Errorf("Literal of FloatOf(-0) = %s, want -0", literal)
	}
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if v, ok := lumigl.FloatOf(f); ok || v.Exists() {
			t.Errorf("FloatOf(%g) = %v, %t, want the absent value, false", f, v, ok)
		}
	}
}

func TestCanonicalNumbers(t *testing.T) {
	for literal, want := range map[string]string{
		"123456789012345678901":      "123456789012345678901",
		"12345678901234567890123e-2": "123456789012345678901.23",
		"1234567890123456789012":     "1.234567890123456789012e+21",
		"-123456789012345678901":     "-123456789012345678901",
		"1e20":                       "100000000000000000000",
		"1e21":                       "1e+21",
		"12.50e1":                    "125",
		"1.25e1":                     "12.5",
		"10e-7":                      "0.000001",
		"1e-7":                       "1e-7",
		"12e-7":                      "0.0000012",
		"-0.0e7":                     "-0",
		"1e2305843009213693951":      "1e+2305843009213693951",
		"10e2305843009213693952":     "10e2305843009213693952",
	} {
		v, ok := lumigl.NumberOf(literal)
		if found, _ := v.Literal(); found != want || !ok {
			t.Errorf("Literal of NumberOf(%s) = %s, want %s", literal, found, want)
		}
	}
}

func TestEqual(t *testing.T) {
	g := &lumigl.Graph{}
	a, b := vertex(t, g, "a"), vertex(t, g, "b")
	number := func(literal string) lumigl.Value {
		v, _ := lumigl.NumberOf(literal)
		return v
	}
	one, two := lumigl.IntOf(1), lumigl.IntOf(2)
	different := []lumigl.Value{
		{}, lumigl.NullValue(), lumigl.BoolOf(true), lumigl.BoolOf(false), one, two, lumigl.TextOf("1"), lumigl.TextOf("2"),
		lumigl.ListOf(), lumigl.ListOf(one), lumigl.ListOf(two), lumigl.ListOf(one, two), bag(), bag(pair("a", one)), bag(pair("a", two)),
		bag(pair("b", one)), bag(pair("a", one), pair("b", two)), bag(pair("a", two), pair("b", one)), bag(pair("a", one), pair("c", two)),
		bag(pair("b", one), pair("a", one)),
		lumigl.ReferenceTo(a), lumigl.ReferenceTo(b), lumigl.PropertyOf(a, "p"), lumigl.PropertyOf(a, "q"), number("-0"), number("0"),
	}
	for i, v := range different {
		for j, w := range different {
			if v.Equal(w) != (i == j) {
				t.Errorf("Equal(numbers %d and %d) = %t, want %t", i, j, i != j, i == j)
			}
		}
	}
	for _, same := range [][2]lumigl.Value{
		{number("1.0"), one},
		{number("1e1"), number("10")},
		{bag(pair("a", one), pair("b", two)), bag(pair("b", two), pair("a", number("1.0")))},
		{lumigl.ReferenceTo(a), lumigl.ReferenceTo(vertex(t, &lumigl.Graph{}, "a"))},
	} {
		if !same[0].Equal(same[1]) {
			t.Errorf("Equal(%v, %v) = false, want true", same[0], same[1])
		}
	}
}

func TestSpecialValues(t *testing.T) {
	signed := func(signature lumigl.Value) lumigl.Value {
		return bag(pair("value", lumigl.IntOf(1)), pair(wire.Signature, signature))
	}
	for name, test := range map[string]struct {
		v    lumigl.Value
		want string
	}{
		"secret":         {signed(lumigl.TextOf(wire.Secret)), "secret"},
		"asset":          {signed(lumigl.TextOf(wire.Asset)), "asset"},
		"archive":        {signed(lumigl.TextOf(wire.Archive)), "archive"},
		"unknown":        {lumigl.TextOf(wire.Unknown), "unknown"},
		"text":           {lumigl.TextOf("x"), ""},
		"object":         {bag(pair("x", lumigl.TextOf(wire.Secret)), pair("value", lumigl.IntOf(1))), ""},
		"no text":        {signed(lumigl.ListOf()), ""},
		"unknown number": {bag(pair("x", lumigl.TextOf(wire.Unknown))), ""},
	} {
		found := ""
		if inner, ok := test.v.Secret(); ok && inner.Equal(lumigl.IntOf(1)) {
			found += "secret"
		}
		if test.v.IsAsset() {
			found += "asset"
		}
		if test.v.IsArchive() {
			found += "archive"
		}
		if test.v.IsUnknown() {
			found += "unknown"
		}
		if found != test.want {
			t.Errorf("%s: true predicates = %q, want %q", name, found, test.want)
		}
	}
}

func TestPlain(t *testing.T) {
	g, err := lumigl.ParseGraph(`{"vertices": {"a": {"x": [true, 1.5, "b", null, {"c": {}}, {"#ref": "a"}, []]}}}`)
	if err != nil {
		t.Fatal(err)
	}
	got := g.Vertex("a").Properties.Plain(func(part lumigl.Value) (any, bool) {
		return "special", part.Kind() == lumigl.Reference
	})
	want := map[string]any{
		"x": []any{true, 1.5, "b", nil, map[string]any{"c": map[string]any{}}, "special", []any{}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("Plain = %#v, want %#v", got, want)
	}
}

func TestRemove(t *testing.T) {
	g := must.Get(lumigl.ParseGraph(`{"vertices": {"a": {}, "b": {"x": {"#ref": "c"}}, "c": {}, "d": {"x": {"#ref": "b"}}}}`))(t)
	g.Remove("a", "c")
	if g.Len() != 2 || g.Vertex("a") != nil || g.Vertex("d") == nil {
		t.Error("Remove removed the wrong vertices")
	}
	expect(t, g.Check(), `no vertex "c" (at /vertices/b/x/#ref)`)
	g.Remove("b")
	vertex(t, g, "b")
	expect(t, g.Check(), `the reference targets a vertex "b" that is not the one in this graph (at /vertices/d/x/#ref)`)
}

func TestAbsentElements(t *testing.T) {
	elements := []lumigl.Value{lumigl.IntOf(1), {}, lumigl.IntOf(2)}
	members := []lumigl.Member{pair("a", lumigl.Value{}), pair("b", lumigl.IntOf(1))}
	g := &lumigl.Graph{}
	v := vertex(t, g, "v")
	v.Properties = bag(pair("list", lumigl.ListOf(elements...)), pair("object", lumigl.ObjectOf(members...)))
	text := must.Get(lumigl.Append(nil, g))(t)
	if !strings.Contains(strings.Join(strings.Fields(string(text)), " "), `"list": [ 1, null, 2 ]`) {
		t.Errorf("Append did not write an absent element as null: %s", text)
	}
	again := must.Get(lumigl.ParseGraph(string(text)))(t)
	if got := again.Vertex("v").Properties; !got.Equal(v.Properties) || got.Get("object").Len() != 1 {
		t.Errorf("a round trip changed the value:\n%s", text)
	}
	if elements[1].Exists() || members[0].Key != "a" {
		t.Error("ListOf or ObjectOf changed its arguments")
	}
}
