package muranopl_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/lang/muranopl"
	"github.com/lumi-idl/lumi/lang/muranopl/catalog"
	"github.com/lumi-idl/lumi/lang/yaql"
	"github.com/lumi-idl/lumi/test/kit/must"
)

const modelClasses = `Namespaces: {=: t, t: t}
Name: Base
Properties:
  text: {Contract: $.string()}
  count: {Contract: $.int(), Default: 1}
---
Name: Node
Properties:
  text: {Contract: $.string()}
  count: {Contract: $.int().check($ < 10), Default: 1}
  next: {Contract: $.class(Node)}
  all: {Contract: [$.class(Node)], Usage: InOut}
  map: {Contract: {!yaql '$.string()': {n: [$.int()]}}}
  any: {Contract: $}
  with: {Contract: $.class(Base), Default: {count: 5, text: preset}}
  out: {Contract: $, Usage: Out}
  runtime: {Contract: $, Usage: Runtime, Default: secret}
Methods:
  make:
    Body:
    - $x: new(Base, text => made)
    - $.out: [$x, {a: $x, type: :Base}, $.next]
    - $.private: new(Base)
  clear: {Body: {$.all: []}}
  .destroy: {Body: trace($.text)}
---
Name: Strict
Properties:
  must: {Contract: $.string().notNull()}
  mine: {Contract: $.class(Node).owned()}
  fixed: {Contract: {kind: a, size: $.int().notNull()}, Default: {kind: a, size: 1}}
---
Name: Wrong
Properties: {p: {Contract: $.int().notNull(), Default: x}, broken: {Contract: $.foo()}}
---
Name: Loop
Properties: {p: {Contract: $.class(Loop), Default: {}}}
---
Name: NewLoop
Properties: {p: {Contract: $.class(NewLoop), Default: new(NewLoop)}}
---
Name: Leaf
Extends: Node
Methods: {.destroy: {Body: [trace(leaf), {Throw: gone, Message: gone}]}}
`

func newModelInterpreter(t testing.TB, traced *[]any) *muranopl.Interpreter {
	classes, _ := decode(t, modelClasses)
	return muranopl.New(classes, muranopl.Options{Functions: []*yaql.Function{
		yaql.Func("trace", "value any", func(c *yaql.Call) (any, error) {
			*traced = append(*traced, c.Arg(0))
			return nil, nil
		}),
	}})
}

// load returns the root object of a model.
func load(t testing.TB, in *muranopl.Interpreter, source string) (*muranopl.Object, error) {
	documents := must.Get(catalog.Decode("env.json", []byte(source)))(t)
	return in.Load(t.Context(), documents[0])
}

func saved(t testing.TB, in *muranopl.Interpreter, o *muranopl.Object) string {
	return string(must.Get(yaql.AppendJSON(nil, in.Save(o)))(t))
}

func TestModelErrors(t *testing.T) {
	for _, test := range []struct{ model, want string }{
		{`[]`, `env.json:1:1: an object model must be a dictionary`},
		{`{}`, `env.json:1:1: the object has no type: add "?": {"type": …}`},
		{`{"?": 5}`, `env.json:1:1: the entry ? of an object must be a dictionary`},
		{`{"?": {"type": "t.Nowhere"}}`, `env.json:1:16: unknown class t.Nowhere`},
		{`{"?": {"type": 5}}`, `env.json:1:16: the type of an object must be a string, not 5`},
		{`{"?": {"type": "t.Node", "id": 5}}`, `env.json:1:32: the id of an object must be a string, not 5`},
		{"{\"?\": {\"type\": \"t.Node\"},\n \"count\": \"x\"}", `env.json:2:11: property count of class t.Node: 'x' violates int() (contract $.int().check($ < 10))`},
		{"{\"?\": {\"type\": \"t.Node\"},\n \"count\": 12}", `env.json:2:11: property count of class t.Node: 12 violates check() (contract $.int().check($ < 10))`},
		{"{\"?\": {\"type\": \"t.Node\"},\n \"next\": {\n  \"count\": [1]}}", `env.json:3:12: property count of class t.Node: a list violates int() (contract $.int().check($ < 10))`},
		{"{\"?\": {\"type\": \"t.Node\"},\n \"all\": [\n  {},\n  5]}", `env.json:4:3: property all[1] of class t.Node: 5 is not an object (contract [$.class(Node)])`},
		{"{\"?\": {\"type\": \"t.Node\"},\n \"all\": [{},\n  {\"next\": {\"?\": {\n\"type\": \"t.Strict\"}, \"must\": \"a\"}}]}", `env.json:3:12: property next of class t.Node: object 38d966f89c4c6ff411c0b0748fd1c356 of class t.Strict is not of class t.Node (contract $.class(Node))`},
		{"{\"?\": {\"type\": \"t.Node\"},\n \"map\": {\"a\": {\"n\": [1,\n \"x\"]}}}", `env.json:3:2: property map['a']['n'][1] of class t.Node: 'x' violates int() (contract {$.string(): {'n': [$.int()]}})`},
		{"{\"?\": {\"type\": \"t.Node\"},\n \"next\": \"nowhere\"}", `env.json:2:10: property next of class t.Node: no object has the id 'nowhere'`},
		{"{\"?\": {\"type\": \"t.Node\"},\n \"all\": [{\"?\": {\"type\": \"t.Node\", \"id\": \"a\"}, \"count\": 1},\n {\"?\": {\"type\": \"t.Node\", \"id\": \"a\"}, \"count\": 2}]}", `env.json:3:2: two objects have the id 'a'`},
		{"{\"?\": {\"type\": \"t.Node\", \"id\": \"a\"},\n \"all\": [{\"?\": {\"type\": \"t.Node\", \"id\": \"a\"}}]}", `env.json:2:10: two objects have the id 'a'`},
		{"{\"?\": {\"type\": \"t.Node\"},\n \"all\": [{\"?\": {\"type\": \"t.Node\", \"id\": \"a\"}},\n {\"?\": {\"type\": \"t.Strict\", \"id\": \"a\"}}]}", `env.json:3:2: two objects have the id 'a'`},
		{"{\"?\": {\"type\": \"t.Node\"},\n \"next\":\n {\"?\": {\"type\": \"t.Strict\"}}}", `env.json:3:2: property must of class t.Strict: null violates notNull() (contract $.string().notNull())`},
		{"{\"?\": {\"type\": \"t.Strict\"},\n \"fixed\": {\"kind\": \"b\",\n\"size\": 5}, \"must\": \"x\"}", `env.json:2:20: property fixed['kind'] of class t.Strict: 'b' is not 'a' (contract {'kind': 'a', 'size': $.int().notNull()})`},
		{"{\"?\": {\"type\": \"t.Strict\"},\n \"fixed\": {\"kind\": \"a\"}, \"must\": \"x\"}", `env.json:2:11: property fixed['size'] of class t.Strict: null violates notNull() (contract {'kind': 'a', 'size': $.int().notNull()})`},
		{"{\"?\": {\"type\": \"t.Node\"}, \"any\": {\"?\": {\"type\": \"t.Node\", \"id\": \"b\"}}, \"next\": \"b\"}", `env.json:1:80: property next of class t.Node: no object has the id 'b'`},
		{"{\"?\": {\"type\": \"t.Strict\"}, \"must\": \"a\", \"mine\":\n {\"?\": {\"type\": \"t.Node\", \"id\": \"b\"}, \"next\": {\"?\": {\"type\": \"t.Leaf\", \"id\": \"c\"}}}, \"fixed\": 1}", `env.json:2:95: property fixed of class t.Strict: 1 is not a dictionary (contract {'kind': 'a', 'size': $.int().notNull()})`},
		{`{"?": {"type": "t.Wrong"}}`, `c.yaml:34:56: property p of class t.Wrong: 'x' violates int() (contract $.int().notNull())`},
		{`{"?": {"type": "t.Wrong"}, "p": 1, "broken": 2}`, `c.yaml:34:81: unknown method foo of integer`},
		{`{"?": {"type": "t.Loop"}}`, `c.yaml:37:52: objects nested deeper than 1000`},
		{`{"?": {"type": "t.Nod"}}`, `env.json:1:16: unknown class t.Nod: did you mean t.Node?`},
		{`{"?": {"type": "t.NewLoop"}}`, `c.yaml:40:55: objects nested deeper than 1000`},
	} {
		_, err := load(t, newModelInterpreter(t, new([]any)), test.model)
		if got := errorText(err); got != test.want {
			t.Errorf("error of %s =\n%s\nwant\n%s", test.model, got, test.want)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestSave(t *testing.T) {
	// Omit the parts that all models have in common.
	same := strings.NewReplacer(`"text": null, `, "", `"count": 1, `, "", `"all": [], `, "", `"map": {}, `, "", `"any": null, `, "", `"next": null, `, "",
		`, "with": null, "out": null`, "")
	for _, test := range []struct{ name, model, call, want string }{
		{"defaults", `{"?": {"type": "t.Node", "id": "a"}}`, "", `{"?": {"id": "a", "type": "t.Node"}, "with": {"?": {"id": "dae1a0d7a2b1c1b737e263ed7eb99a78", "type": "t.Base"}, "text": "preset", "count": 5}, "out": null}`},
		{"header", `{"?": {"type": "t.Node/1.2.3@some.package", "id": "a", "name": "first", "_26411a1861294160833743e45d0eaad9": {"name": "x"}}, "with": null, "unknown": 1}`, "", `{"?": {"id": "a", "type": "t.Node", "name": "first", "_26411a1861294160833743e45d0eaad9": {"name": "x"}}, "with": null, "out": null}`},
		{"new id", `{"?": {"type": "t.Node"}, "with": null, "next": {"with": null}}`, "", `{"?": {"id": "7daed43814b633951fa277cd01695574", "type": "t.Node"}, "next": {"?": {"id": "36bae3159d449e5bbadf144b0c9c2cab", "type": "t.Node"}, "with": null, "out": null}, "with": null, "out": null}`},
		{"inline", `{"?": {"type": "t.Node", "id": "a"}, "with": {"text": "mine", "count": null}, "next": {"t:Leaf": {"with": {"t:Base": {"count": 2}}}, "id": "b"}}`, "", `{"?": {"id": "a", "type": "t.Node"}, "next": {"?": {"id": "b", "type": "t.Leaf"}, "with": {"?": {"id": "8d6e72b1c7a3343d5cf2fdbd0afeb883", "type": "t.Base"}, "text": "preset", "count": 2}, "out": null}, "with": {"?": {"id": "dae1a0d7a2b1c1b737e263ed7eb99a78", "type": "t.Base"}, "text": "mine", "count": null}, "out": null}`},
		{"references", `{"?": {"type": "t.Node", "id": "a"}, "with": null, "next": "c", "all": [{"?": {"type": "t.Node", "id": "b"}, "with": null,
			"next": {"?": {"type": "t.Leaf", "id": "c"}, "next": "a", "with": null}, "all": ["b", "c"]}, "c"], "any": "c"}`, "", `{"?": {"id": "a", "type": "t.Node"}, "next": "c", "all": [{"?": {"id": "b", "type": "t.Node"}, "next": {"?": {"id": "c", "type": "t.Leaf"}, "next": "a", "with": null, "out": null}, "all": ["b", "c"], "with": null, "out": null}, "c"], "any": "c"}`},
		{"equal objects", `{"?": {"type": "t.Node", "id": "a"}, "with": null, "all": [{"?": {"type": "t.Node", "id": "b"}, "with": null}, {"?": {"type": "t.Node", "id": "b"}, "with": null}]}`, "", `{"?": {"id": "a", "type": "t.Node"}, "all": [{"?": {"id": "b", "type": "t.Node"}, "with": null, "out": null}, "b"], "with": null, "out": null}`},
		{"objects without owners", `{"?": {"type": "t.Node", "id": "a"}, "with": null, "next": {"?": {"type": "t.Node", "id": "b"}, "with": null}}`, "make", `{"?": {"id": "a", "type": "t.Node"}, "next": {"?": {"id": "b", "type": "t.Node"}, "with": null, "out": null}, "with": null, "out": [{"?": {"id": "7daed43814b633951fa277cd01695574", "type": "t.Base"}, "text": "made", "count": 1}, {"a": "7daed43814b633951fa277cd01695574", "type": "t.Base"}, "b"]}`},
	} {
		in := newModelInterpreter(t, new([]any))
		o, err := load(t, in, test.model)
		if err == nil && test.call != "" {
			_, err = in.Call(t.Context(), o, test.call)
		}
		if err != nil {
			t.Errorf("%s: load or call: %s", test.name, err)
			continue
		}
		got := saved(t, in, o)
		if short := same.Replace(got); short != test.want {
			t.Errorf("%s: saved model =\n%s\nwant\n%s", test.name, short, test.want)
		}
		in = newModelInterpreter(t, new([]any))
		if o, err = load(t, in, got); err != nil {
			t.Errorf("%s: load of the saved model: %s", test.name, err)
		} else if again := saved(t, in, o); again != got {
			t.Errorf("%s: model saved again =\n%s\nwant\n%s", test.name, again, got)
		}
	}
}

func TestDestroy(t *testing.T) {
	var traced []any
	in := newModelInterpreter(t, &traced)
	o := must.Get(load(t, in, `{"?": {"type": "t.Node", "id": "a"}, "text": "root", "with": null,
		"next": {"?": {"type": "t.Node", "id": "b"}, "text": "kept", "with": null}, "out": {"x": 1},
		"all": [{"?": {"type": "t.Node", "id": "c"}, "text": "outer", "with": null, "next":
			{"?": {"type": "t.Leaf", "id": "d"}, "text": "inner", "with": null}}, {"?": {"type": "t.Node", "id": "e"}, "with": null, "text": "second"}]}`))(t)
	if errs := in.Destroy(t.Context(), o); len(errs) > 0 || len(traced) > 0 {
		t.Errorf("Destroy = %v, traced %v, want no calls", errs, traced)
	}
	must.Get(in.Call(t.Context(), o, "clear"))(t)
	inner := in.Object("d")
	errs := in.Destroy(t.Context(), o)
	if got := fmt.Sprint(traced); got != "[leaf inner outer second]" {
		t.Errorf("order of calls = %s, want [leaf inner outer second]", got)
	}
	if got := fmt.Sprint(errs); got != "[c.yaml:44:42: gone]" {
		t.Errorf("Destroy = %s, want [c.yaml:44:42: gone]", got)
	}
	if _, err := inner.Get("text"); errorText(err) != "object d of class t.Leaf is destroyed" || in.Object("d") != nil || in.Object("b") == nil {
		t.Errorf("Get of a destroyed object = %v, want an error, or Object returned wrong objects", err)
	}
}
