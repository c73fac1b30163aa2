package graph_test

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/test/kit/expect"
)

func value(t testing.TB, json string) lumigl.Value {
	t.Helper()
	v, err := lumigl.Parser{}.ParseValue(json)
	if err != nil {
		t.Fatalf("ParseValue(%s): %v", json, err)
	}
	return v
}

func typeOf(t testing.TB, json string) graph.Type {
	t.Helper()
	return graph.Type{Form: value(t, json)}
}

func TestTypeString(t *testing.T) {
	t.Parallel()
	for json, want := range map[string]string{
		`"bool"`:                      "bool",
		`{"list": {"map": "any"}}`:    "list of map of any",
		`{"resource": "aws:ec2:VPC"}`: "aws:ec2:VPC",
		`{"object": {}}`:              "{}",
		`{"object": {"b?": {"list": "string"}, "a": "number", "type": "bool", "x y": "any"}}`: `{a: number, b?: list of string, type: bool, "x y": any}`,
		`{"verb": {"request": {"object": {"a": "number"}}, "response": "number"}}`:            "verb {a: number} → number",
		`{"verb": {"request": {"list": {"verb": {"request": "bool", "response": "number"}}},
			"response": {"verb": {"request": "string", "response": "any"}}}}`: "verb (list of verb bool → number) → verb string → any",
		`"int"`: "invalid type", `{"tuple": []}`: "invalid type", `{}`: "invalid type", `{"list": {}}`: "list of invalid type",
	} {
		expect.Equal(t, want, typeOf(t, json).String(), json)
	}
	if got := (graph.Type{}).String(); got != "invalid type" {
		t.Errorf(`Type{}.String() = %q, want "invalid type"`, got)
	}
}

func TestAssignableTo(t *testing.T) {
	t.Parallel()
	object := func(properties string) string { return `{"object": {` + properties + `}}` }
	verb := func(request, response string) string {
		return `{"verb": {"request": ` + request + `, "response": ` + response + `}}`
	}
	takes := func(request string) string { return verb(request, `"any"`) }
	const a, ab, abMaybe = `"a": "bool"`, `"a": "bool", "b": "number"`, `"a": "bool", "b?": "number"`
	for _, test := range []struct{ provided, used, want string }{
		{`"number"`, `"number"`, ""},
		{`"number"`, `"string"`, "number is not assignable to string"},
		{`"number"`, `"any"`, ""},
		{takes(`"bool"`), `"any"`, ""},
		{`"any"`, `"number"`, "any is not assignable to number"},
		{`{"list": "bool"}`, `{"list": "any"}`, ""},
		{`{"list": {"map": "bool"}}`, `{"list": {"map": "number"}}`, "[*][*]: bool is not assignable to number"},
		{`{"list": "bool"}`, `{"map": "bool"}`, "list of bool is not assignable to map of bool"},
		{`{"resource": "aws:ec2:VPC"}`, `{"resource": "aws:ec2:VPC"}`, ""},
		{`{"resource": "aws:ec2:VPC"}`, `{"resource": "aws:ec2:Subnet"}`, "aws:ec2:VPC is not assignable to aws:ec2:Subnet"},
		{`{"resource": "aws:ec2/vpc:VPC"}`, `{"resource": "aws:ec2:VPC"}`, "aws:ec2/vpc:VPC is not assignable to aws:ec2:VPC"},
		{`"int"`, `"int"`, "invalid type is not assignable to invalid type"},
		{`"int"`, `"any"`, ""},

		{object(ab), object(a), ""},
		{object(a), object(ab), "b: required, but not provided"},
		{object(abMaybe), object(ab), "b: required, but not always provided"},
		{object(ab), object(abMaybe), ""},
		{object(a), object(abMaybe), ""},
		{object(ab), object(`"b": "bool", "a": "number"`), "a: bool is not assignable to number"},
		{object(`"x y": {"list": ` + object(a) + `}`), object(`"x y": {"list": ` + object(ab) + `}`), `["x y"][*].b: required, but not provided`},
		{object(`"a": "bool"`), `{"map": "bool"}`, "{a: bool} is not assignable to map of bool"},
		{`{"map": "bool"}`, object(`"a?": "bool"`), "map of bool is not assignable to {a?: bool}"},

		{takes(object(ab)), takes(object(a)), "request.b: required, but callers do not send it"},
		{takes(object(ab)), takes(object(abMaybe)), "request.b: required, but callers do not always send it"},
		{takes(object(abMaybe)), takes(object(a)), ""},
		{takes(object(abMaybe)), takes(object(ab)), ""},
		{takes(object(a)), takes(object(ab)), "request.b: sent by callers, but unknown to the verb"},
		{takes(object(a)), takes(object(abMaybe)), "request.b: sent by callers, but unknown to the verb"},
		{takes(`{"list": ` + object(a) + `}`), takes(`{"list": ` + object(ab) + `}`), "request[*].b: sent by callers, but unknown to the verb"},
		{takes(`{"map": ` + object(a) + `}`), takes(`{"map": ` + object(ab) + `}`), "request[*].b: sent by callers, but unknown to the verb"},
		{
			takes(object(`"o": ` + object(a))), takes(object(`"o": ` + object(ab))),
			"request.o.b: sent by callers, but unknown to the verb",
		},
		{takes(`"any"`), takes(object(ab)), ""},
		{takes(object(ab)), takes(`"any"`), "request: any is not assignable to {a: bool, b: number}"},

		{verb(`"bool"`, `"string"`), verb(`"bool"`, `"number"`), "response: string is not assignable to number"},
		{verb(`"bool"`, object(ab)), verb(`"bool"`, object(a)), ""},
		{verb(`"bool"`, object(a)), verb(`"bool"`, object(ab)), "response.b: required, but not provided"},
		{verb(`"bool"`, `"bool"`), verb(`"number"`, `"number"`), "request: number is not assignable to bool"},
		{verb(`"bool"`, `"bool"`), `"string"`, "verb bool → bool is not assignable to string"},

		// The receiver of a verb in a request calls it, so the caller must know all properties of its requests.
		{takes(takes(object(a))), takes(takes(object(ab))), "request.request.b: required, but callers do not send it"},
		{takes(takes(object(ab))), takes(takes(object(a))), "request.request.b: sent by callers, but unknown to the verb"},
		{takes(verb(`"bool"`, object(a))), takes(verb(`"bool"`, object(ab))), ""},
		{takes(verb(`"bool"`, object(ab))), takes(verb(`"bool"`, object(a))), "request.response.b: required, but not provided"},
		{verb(`"bool"`, takes(object(a))), verb(`"bool"`, takes(object(ab))), "response.request.b: sent by callers, but unknown to the verb"},
	} {
		got := ""
		if err := typeOf(t, test.provided).AssignableTo(typeOf(t, test.used)); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s AssignableTo %s =\n     %s\nwant %s", test.provided, test.used, got, test.want)
		}
	}
}

func TestAssignableToDeep(t *testing.T) {
	t.Parallel()
	const depth = 900
	deep := func(innermost string) graph.Type {
		return typeOf(t, strings.Repeat(`{"list": `, depth)+innermost+strings.Repeat("}", depth))
	}
	want := strings.Repeat("[*]", depth) + ": bool is not assignable to string"
	if err := deep(`"bool"`).AssignableTo(deep(`"string"`)); err == nil || err.Error() != want {
		t.Errorf("AssignableTo at depth %d = %v, want %s", depth, err, want)
	}
}

// forms draws types in their LumiGL form.
type forms struct{ verbs bool }

var names = []string{"a", "b", "c"}

func (f forms) draw(t *rapid.T, depth int) lumigl.Value {
	kinds := []string{"bool", "number", "any", "resource"}
	if depth > 0 {
		kinds = append(kinds, "list", "map", "object", "object", "object")
		if f.verbs {
			kinds = append(kinds, "verb", "verb")
		}
	}
	kind := rapid.SampledFrom(kinds).Draw(t, "kind")
	switch kind {
	case "resource":
		return one(kind, lumigl.TextOf(rapid.SampledFrom([]string{"x:y:A", "x:y:B"}).Draw(t, "token")))
	case "list", "map":
		return one(kind, f.draw(t, depth-1))
	case "verb":
		return one(kind, lumigl.ObjectOf(lumigl.Member{Key: "request", Value: f.draw(t, depth-1)}, lumigl.Member{Key: "response", Value: f.draw(t, depth-1)}))
	case "object":
		var all lumigl.ObjectBuilder
		for _, name := range names {
			f.property(t, &all, name, rapid.SampledFrom([]string{"", "?", "none"}).Draw(t, "mark"), f.draw(t, depth-1))
		}
		return one(kind, all.Object())
	}
	return lumigl.TextOf(kind)
}

func (forms) property(_ *rapid.T, all *lumigl.ObjectBuilder, name, mark string, form lumigl.Value) {
	if mark != "none" {
		all.Set(name+mark, form)
	}
}

func one(kind string, of lumigl.Value) lumigl.Value {
	return lumigl.ObjectOf(lumigl.Member{Key: kind, Value: of})
}

// edit draws a type similar to form, so that one is often assignable to the other.
func (f forms) edit(t *rapid.T, form lumigl.Value, depth int) lumigl.Value {
	if rapid.IntRange(0, 19).Draw(t, "new") == 0 {
		return f.draw(t, depth)
	}
	for kind, of := range form.Members() {
		switch kind {
		case "list", "map":
			return one(kind, f.edit(t, of, depth-1))
		case "verb":
			return one(kind, of.With("request", f.edit(t, of.Get("request"), depth-1)).With("response", f.edit(t, of.Get("response"), depth-1)))
		case "object":
			var all lumigl.ObjectBuilder
			for _, name := range names {
				mark, inner := "", of.Get(name)
				if !inner.Exists() {
					mark, inner = "?", of.Get(name+"?")
				}
				if !inner.Exists() {
					mark, inner = "none", f.draw(t, max(0, depth-1))
				}
				if rapid.IntRange(0, 3).Draw(t, "remark") == 0 {
					mark = rapid.SampledFrom([]string{"", "?", "none"}).Draw(t, "mark")
				}
				f.property(t, &all, name, mark, f.edit(t, inner, max(0, depth-1)))
			}
			return one(kind, all.Object())
		}
	}
	return form
}

// Every type is assignable to itself, and types are equal if and only if their strings are.
func TestAssignableToReflexive(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := graph.Type{Form: forms{verbs: true}.draw(t, 4)}
		b := graph.Type{Form: forms{verbs: true}.edit(t, a.Form, 4)}
		if err := a.AssignableTo(a); err != nil {
			t.Fatalf("%s is not assignable to itself: %v", a, err)
		}
		if equal := a.Form.Equal(b.Form); equal != (a.String() == b.String()) {
			t.Fatalf("Equal(%s, %s) = %t, want %t, as for their strings", a, b, equal, !equal)
		}
	})
}

var path = regexp.MustCompile(`^([\w.*[\]]+): `)

// declares reports whether a type has a part at the path in an error message.
func declares(form lumigl.Value, message string) bool {
	var steps []string
	if at := path.FindStringSubmatch(message); at != nil {
		steps = strings.FieldsFunc(at[1], func(r rune) bool { return strings.ContainsRune(".[]", r) })
	}
	for _, step := range steps {
		for _, of := range form.Members() {
			switch form = of; {
			case step == "*":
			case of.Get(step).Exists():
				form = of.Get(step)
			default:
				form = of.Get(step + "?")
			}
		}
	}
	return form.Exists()
}

// Assignability is transitive unless the middle type lacks a property.
func TestAssignableToTransitive(t *testing.T) {
	t.Parallel()
	chains := 0
	rapid.Check(t, func(t *rapid.T) {
		f := forms{verbs: true}
		for range 10 {
			p := graph.Type{Form: f.draw(t, 3)}
			q := graph.Type{Form: f.edit(t, p.Form, 3)}
			r := graph.Type{Form: f.edit(t, q.Form, 3)}
			if p.AssignableTo(q) != nil || q.AssignableTo(r) != nil {
				continue
			}
			chains++
			if err := p.AssignableTo(r); err != nil && declares(q.Form, err.Error()) {
				t.Fatalf("%s, %s, and %s are assignable in turn, but the first is not assignable to the third: %v", p, q, r, err)
			}
		}
	})
	if chains < 50 {
		t.Errorf("drew %d chains of assignable types, want at least 50", chains)
	}
}

// reference is a value of a resource type in the model. Other values are represented as in encoding/json.
type reference string

// drawValue draws a value of a type, with only the properties in the type.
func drawValue(t *rapid.T, form lumigl.Value) any {
	name, _ := form.Text()
	switch name {
	case "bool":
		return true
	case "number":
		return 1
	case "any":
		return rapid.SampledFrom([]any{nil, true, 1, "text", reference("x:y:A"), []any{1}, map[string]any{"a": true}}).Draw(t, "any")
	}
	for kind, of := range form.Members() {
		switch kind {
		case "resource":
			token, _ := of.Text()
			return reference(token)
		case "list":
			var all []any
			for range rapid.IntRange(0, 2).Draw(t, "length") {
				all = append(all, drawValue(t, of))
			}
			return all
		case "map":
			all := map[string]any{}
			for _, key := range append(names, "other") {
				if rapid.Bool().Draw(t, "present") {
					all[key] = drawValue(t, of)
				}
			}
			return all
		case "object":
			all := map[string]any{}
			for key, property := range of.Members() {
				if name, optional := strings.CutSuffix(key, "?"); !optional || rapid.Bool().Draw(t, "present") {
					all[name] = drawValue(t, property)
				}
			}
			return all
		}
	}
	panic("no values of this type")
}

// conforms reports whether a value can be used as a type. If closed is set, objects must not have additional
// properties.
func conforms(v any, form lumigl.Value, closed bool) bool {
	name, _ := form.Text()
	switch name {
	case "bool":
		return v == any(true)
	case "number":
		return v == any(1)
	case "any":
		return true
	}
	for kind, of := range form.Members() {
		switch v := v.(type) {
		case reference:
			token, _ := of.Text()
			return kind == "resource" && token == string(v)
		case []any:
			for _, e := range v {
				if kind == "list" && !conforms(e, of, closed) {
					return false
				}
			}
			return kind == "list"
		case map[string]any:
			known := 0
			for key, property := range of.Members() {
				name, optional := strings.CutSuffix(key, "?")
				member, present := v[name]
				if kind == "object" && (!present && !optional || present && !conforms(member, property, closed)) {
					return false
				}
				if present {
					known++
				}
			}
			for _, e := range v {
				if kind == "map" && !conforms(e, of, closed) {
					return false
				}
			}
			return kind == "map" || kind == "object" && (!closed || known == len(v))
		}
	}
	return false
}

// TestAssignableToModel compares assignability with a model. A value of a type must conform to each type to which that
// type is assignable. Requests must conform to the request type of a verb.
func TestAssignableToModel(t *testing.T) {
	t.Parallel()
	compared := 0
	rapid.Check(t, func(t *rapid.T) {
		f := forms{}
		for range 10 {
			from := f.draw(t, 3)
			to := f.edit(t, from, 3)
			v := drawValue(t, from)
			if !conforms(v, from, true) {
				t.Fatalf("drawn value %v does not conform to its type %s", v, graph.Type{Form: from})
			}
			if (graph.Type{Form: from}).AssignableTo(graph.Type{Form: to}) == nil {
				compared++
				if !conforms(v, to, false) {
					t.Fatalf("%v conforms to %s, which is assignable to %s, but does not conform to the latter", v, graph.Type{Form: from}, graph.Type{Form: to})
				}
			}
			takes := func(request lumigl.Value) graph.Type {
				return graph.Type{Form: one("verb", lumigl.ObjectOf(lumigl.Member{Key: "request", Value: request}, lumigl.Member{Key: "response", Value: lumigl.TextOf("any")}))}
			}
			if takes(to).AssignableTo(takes(from)) == nil && !conforms(v, to, true) {
				t.Fatalf("the verb types are assignable, but callers may send %v, which does not conform to %s", v, graph.Type{Form: to})
			}
		}
	})
	if compared < 100 {
		t.Errorf("compared %d values, want at least 100", compared)
	}
}
