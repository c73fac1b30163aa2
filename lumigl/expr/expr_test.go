package expr_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/expr"
	"github.com/lumi-idl/lumi/runtime/wire"
	"github.com/lumi-idl/lumi/test/kit/must"
)

var signatures = strings.NewReplacer(`"$sig"`, `"`+wire.Signature+`"`, `"$expr"`, `"`+wire.Expression+`"`,
	`"$secret"`, `"`+wire.Secret+`"`, `"$asset"`, `"`+wire.Asset+`"`, `"$unknown"`, `"`+wire.Unknown+`"`)

// values parses values that may refer to a vertex r, whose properties are the given outputs.
func values(t interface{ Fatal(args ...any) }, outputs json.RawMessage, all ...json.RawMessage) []lumigl.Value {
	if outputs == nil {
		outputs = json.RawMessage(`{}`)
	}
	text := `{"vertices": {"r": ` + string(outputs)
	for i, v := range all {
		text += `, "` + string(rune('a'+i)) + `": {"v": ` + string(v) + `}`
	}
	g, err := lumigl.ParseGraph(signatures.Replace(text) + "}}")
	if err != nil {
		t.Fatal(err)
	}
	var parsed []lumigl.Value
	for i := range all {
		parsed = append(parsed, g.Vertex(string(rune('a'+i))).Properties.Get("v"))
	}
	return parsed
}

// outputs resolves a reference to the vertex's property of the same name.
func outputs(vertex *lumigl.Vertex, property string) (lumigl.Value, bool) {
	v := vertex.Properties.Get(property)
	return v, v.Exists()
}

func TestCases(t *testing.T) {
	t.Parallel()
	text := must.Get(os.ReadFile("testdata/cases.json"))(t)
	var cases []struct {
		Name                 string
		Value, Outputs, Want json.RawMessage
		Error                string
	}
	must.Do(t, json.Unmarshal(text, &cases))
	for _, test := range cases {
		t.Run(test.Name, func(t *testing.T) {
			t.Parallel()
			if test.Want == nil {
				test.Want = json.RawMessage("null")
			}
			v := values(t, test.Outputs, test.Value, test.Want)
			got, err := expr.Evaluate(v[0], outputs)
			switch {
			case test.Error != "":
				if err == nil || err.Error() != test.Error {
					t.Errorf("Evaluate = %v, want %s", err, test.Error)
				}
			case err != nil:
				t.Errorf("Evaluate: %v", err)
			case !got.Equal(v[1]):
				t.Errorf("Evaluate = %s, want %s", show(got), show(v[1]))
			}
		})
	}
}

// show formats a value for a message.
func show(v lumigl.Value) string {
	g := &lumigl.Graph{}
	vertex, err := g.Add("v")
	if err != nil {
		return err.Error()
	}
	vertex.Properties = lumigl.ObjectOf(lumigl.Member{Key: "v", Value: v})
	var text strings.Builder
	if err := lumigl.Write(&text, g); err != nil {
		return err.Error()
	}
	return text.String()
}

// known maps the names of known outputs to their values.
type known map[string]lumigl.Value

func (k known) resolve(_ *lumigl.Vertex, property string) (lumigl.Value, bool) {
	v, ok := k[property]
	return v, ok
}

// drawValue generates the value of an output or of a literal in an expression.
func drawValue(t *rapid.T, depth int) lumigl.Value {
	kinds := 6
	if depth == 0 {
		kinds = 4
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return lumigl.TextOf(rapid.StringMatching(`[a-c€😀"]{0,3}`).Draw(t, "text"))
	case 1:
		v, _ := lumigl.FloatOf(rapid.Float64Range(-1e25, 1e25).Draw(t, "number"))
		return v
	case 2:
		return lumigl.BoolOf(rapid.Bool().Draw(t, "bool"))
	case 3:
		inner := lumigl.TextOf("hush" + rapid.StringMatching(`[a-c]{0,2}`).Draw(t, "secret"))
		return lumigl.ObjectOf(lumigl.Member{Key: wire.Signature, Value: lumigl.TextOf(wire.Secret)},
			lumigl.Member{Key: "value", Value: inner})
	case 4:
		return lumigl.ListOf(drawValue(t, depth-1), drawValue(t, depth-1))
	}
	keys := rapid.Permutation([]string{"a", "b"}).Draw(t, "keys")
	return lumigl.ObjectOf(lumigl.Member{Key: keys[0], Value: drawValue(t, depth-1)},
		lumigl.Member{Key: keys[1], Value: drawValue(t, depth-1)})
}

var names = []string{"x", "y", "z"}

// drawExpression generates an expression that uses outputs of r.
func drawExpression(t *rapid.T, r *lumigl.Vertex, depth int) lumigl.Value {
	inner := func() lumigl.Value {
		if depth == 0 {
			return drawValue(t, 1)
		}
		return drawExpression(t, r, depth-1)
	}
	signed := func(members ...lumigl.Member) lumigl.Value {
		signature := lumigl.Member{Key: wire.Signature, Value: lumigl.TextOf(wire.Expression)}
		return lumigl.ObjectOf(append([]lumigl.Member{signature}, members...)...)
	}
	switch rapid.IntRange(0, 5).Draw(t, "expression") {
	case 0:
		return lumigl.PropertyOf(r, rapid.SampledFrom(names).Draw(t, "output"))
	case 1:
		return drawValue(t, 2)
	case 2:
		return signed(lumigl.Member{Key: "jsonStringify", Value: inner()})
	case 3:
		path := rapid.SampledFrom([]string{"a", "[1]", "a.b", "[0].a", `["b"][1]`}).Draw(t, "path")
		return signed(lumigl.Member{Key: "get", Value: inner()}, lumigl.Member{Key: "path", Value: lumigl.TextOf(path)})
	case 4:
		return lumigl.ListOf(inner(), inner())
	}
	return signed(lumigl.Member{Key: "interpolate", Value: lumigl.ListOf(inner(), lumigl.TextOf("-"), inner())})
}

// Evaluation in two steps gives the same result as in one step, and secrets stay secret.
func TestEvaluateInSteps(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := &lumigl.Graph{}
		r := must.Get(g.Add("r"))(t)
		all, first := known{}, known{}
		for _, name := range names {
			all[name] = drawValue(t, 2)
			if rapid.Bool().Draw(t, "is known") {
				first[name] = all[name]
			}
		}
		v := drawExpression(t, r, 3)
		once, onceErr := expr.Evaluate(v, all.resolve)
		half, err := expr.Evaluate(v, first.resolve)
		if err != nil {
			if onceErr == nil {
				t.Fatalf("the first of two steps failed, but a single step did not: %v", err)
			}
			return
		}
		twice, twiceErr := expr.Evaluate(half, all.resolve)
		if (onceErr == nil) != (twiceErr == nil) {
			t.Fatalf("error of one step = %v, of two steps = %v\n%s", onceErr, twiceErr, show(half))
		}
		if onceErr != nil {
			return
		}
		if !once.Equal(twice) {
			t.Fatalf("one step =\n%s\ntwo steps =\n%s\nafter the first of two =\n%s", show(once), show(twice), show(half))
		}
		for _, evaluated := range []lumigl.Value{once, half, expr.Unknown(half)} {
			if text := bare(evaluated); strings.Contains(text, "hush") {
				t.Fatalf("the result reveals a secret: %s", text)
			}
		}
		if !expr.IsKnown(once) {
			t.Fatalf("IsKnown(%s) = false, want true", show(once))
		}
		again, err := expr.Evaluate(once, all.resolve)
		if err != nil || !again.Equal(once) {
			t.Fatalf("Evaluate of a known value = %s, %v, want no change", show(again), err)
		}
	})
}

// bare returns the text of a value without the secrets in it.
func bare(v lumigl.Value) string {
	return show(v.Replace(func(part lumigl.Value) (lumigl.Value, bool) { return lumigl.Value{}, part.IsSecret() }))
}

func TestUnknown(t *testing.T) {
	t.Parallel()
	v := values(t, nil,
		json.RawMessage(`[{"#ref": "r"}, {"#ref": "r", "property": "x"}, {"$sig": "$expr", "interpolate": [{"#ref": "r", "property": "x"}]},
			{"$sig": "$secret", "value": {"$sig": "$expr", "jsonStringify": {"#ref": "r", "property": "x"}}}]`),
		json.RawMessage(`[{"#ref": "r"}, "$unknown", "$unknown", {"$sig": "$secret", "value": "$unknown"}]`))
	if got := expr.Unknown(v[0]); !got.Equal(v[1]) {
		t.Errorf("Unknown = %s, want %s", show(got), show(v[1]))
	}
	if expr.IsKnown(v[0]) || expr.IsKnown(v[1]) || !expr.IsKnown(v[0].At(0)) {
		t.Error("IsKnown returned a wrong result")
	}
}

func TestStringLimit(t *testing.T) {
	t.Parallel()
	expression := func(key string, v lumigl.Value) lumigl.Value {
		return lumigl.ObjectOf(lumigl.Member{Key: wire.Signature, Value: lumigl.TextOf(wire.Expression)}, lumigl.Member{Key: key, Value: v})
	}
	quotes, doubled := lumigl.TextOf(`"`), lumigl.TextOf(strings.Repeat("x", 1000))
	for range 60 {
		quotes = expression("jsonStringify", quotes)
	}
	doubled = expression("interpolate", lumigl.ListOf(slices.Repeat([]lumigl.Value{doubled}, 100_000)...))
	for name, v := range map[string]lumigl.Value{"escapes": quotes, "parts": doubled} {
		_, err := expr.Evaluate(lumigl.ListOf(v), outputs)
		if want := "/0: expressions produce more than 64 MiB of strings"; err == nil || err.Error() != want {
			t.Errorf("%s: Evaluate = %v, want %s", name, err, want)
		}
	}
}

func TestAt(t *testing.T) {
	t.Parallel()
	value := json.RawMessage(`{"a": [{"b c": 1}, {"$sig": "$secret", "value": {"d": {"$sig": "$secret", "value": "x"}}}], "s": "text"}`)
	v := values(t, nil, value)[0]
	for _, test := range []struct {
		path, want string
		secret     bool
		err        string
	}{
		{path: `a[0]["b c"]`, want: "1"},
		{path: "a[1].d", want: `"x"`, secret: true},
		{path: "a[1]", want: `{"d":"x"}`, secret: true},
		{path: "a", want: `[{"b c":1},{"d":"x"}]`, secret: true},
		{path: "a[0].e", want: "null"},
		{path: "a[7]", want: "null"},
		{path: "s.length", err: "cannot get length from a string"},
		{path: "s[0]", err: "cannot get [0] from a string"},
	} {
		part, secret, err := expr.At(v, test.path)
		if err != nil || test.err != "" {
			if err == nil || err.Error() != test.err {
				t.Errorf("At(%q) = %v, want error %s", test.path, err, test.err)
			}
			continue
		}
		if want := values(t, nil, json.RawMessage(test.want))[0]; !part.Equal(want) || secret != test.secret {
			t.Errorf("At(%q) = %v, %t, want %s, %t", test.path, part, secret, test.want, test.secret)
		}
	}
}

func TestUnique(t *testing.T) {
	t.Parallel()
	long := expr.UniqueName("photos").With("length", lumigl.IntOf(12))
	for _, test := range []struct {
		v      lumigl.Value
		base   string
		length int
		ok     bool
	}{
		{expr.UniqueName("photos"), "photos", 8, true},
		{long, "photos", 12, true},
		{lumigl.TextOf("photos"), "", 0, false},
		{long.With("uniqueName", lumigl.Value{}), "", 12, false},
	} {
		if base, length, ok := expr.Unique(test.v); base != test.base || length != test.length || ok != test.ok {
			t.Errorf("Unique(%s) = %q, %d, %t, want %q, %d, %t", show(test.v), base, length, ok, test.base, test.length, test.ok)
		}
	}
	if !expr.IsKnown(long) || !expr.Unknown(long).Equal(long) {
		t.Error("a unique name is unknown")
	}
}
