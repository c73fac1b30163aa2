package expr_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/expr"
	"github.com/lumi-idl/lumi/test/kit/must"
	"github.com/lumi-idl/lumi/test/kit/node"
)

// ask is a script that evaluates the questions in a file with the npm package. It prints null for expressions that the
// package rejects.
const ask = `
import { readFileSync } from "node:fs";
import { evaluate } from "./test/wire.js";

const answers = JSON.parse(readFileSync(process.argv[2], "utf8")).map(({ value, outputs }) => {
    try {
        return { value: evaluate(value, outputs) };
    } catch (error) {
        return { error: error.message };
    }
});
console.log(JSON.stringify(answers));
`

// question is an expression and the outputs that are known.
type question struct {
	Value   json.RawMessage            `json:"value"`
	Outputs map[string]json.RawMessage `json:"outputs"`

	value      lumigl.Value
	known, all known
}

// The known parts of random expressions have the same values in Go and TypeScript. TypeScript checks all parts at once,
// so it may reject expressions that Go evaluates in part.
func TestTypeScript(t *testing.T) {
	t.Parallel()
	var questions []*question
	draw := rapid.Custom(drawQuestion)
	for seed := range 5000 {
		questions = append(questions, draw.Example(seed))
	}
	data := must.Get(json.Marshal(questions))(t)
	checkout := must.Get(filepath.Abs("../.."))(t)
	dir := node.Package(t, checkout)
	must.Do(t, os.CopyFS(filepath.Join(dir, "test"), os.DirFS(filepath.Join(checkout, "runtime", "typescript", "test"))))
	script, input := filepath.Join(dir, "ask.js"), filepath.Join(dir, "questions.json")
	for name, content := range map[string][]byte{script: []byte(ask), input: data} {
		must.Do(t, os.WriteFile(name, content, 0o600))
	}
	var answers []struct {
		Value json.RawMessage
		Error string
	}
	must.Do(t, json.Unmarshal([]byte(node.Run(t, dir, "node", script, input)), &answers))
	same, refused := 0, 0
	for i, q := range questions {
		want, err := expr.Evaluate(q.value, q.known.resolve)
		switch got := answers[i]; {
		case got.Error != "":
			refused++
			if err == nil && !hasError(q.value, q.all) {
				t.Fatalf("TypeScript rejected %s, which Go accepts: %s", q.Value, got.Error)
			}
		case err != nil:
			t.Fatalf("TypeScript returned %s for %s, which Go rejects: %v", got.Value, q.Value, err)
		default:
			same++
			if v := values(t, nil, got.Value)[0]; !v.Equal(want.Replace(positiveZero)) {
				t.Fatalf("TypeScript returned %s for %s with outputs %s, Go %s", got.Value, q.Value, q.Outputs, show(want))
			}
		}
	}
	if same < 1000 || refused < 100 {
		t.Errorf("%d expressions had a value and %d were rejected, want at least 1000 and 100", same, refused)
	}
}

func drawQuestion(t *rapid.T) *question {
	g := &lumigl.Graph{}
	r := must.Get(g.Add("r"))(t)
	q := &question{Outputs: map[string]json.RawMessage{}, known: known{}, all: known{}}
	for _, name := range names {
		q.all[name] = drawValue(t, 2)
		if rapid.Bool().Draw(t, "is known") {
			q.known[name] = q.all[name]
			q.Outputs[name] = textOf(t, g, q.all[name])
		}
	}
	q.value = drawExpression(t, r, 3)
	q.Value = textOf(t, g, q.value)
	return q
}

// textOf returns a value as JSON. It adds a vertex with the value to g.
func textOf(t *rapid.T, g *lumigl.Graph, v lumigl.Value) json.RawMessage {
	vertex := must.Get(g.Add(fmt.Sprintf("v%d", g.Len())))(t)
	vertex.Properties = lumigl.ObjectOf(lumigl.Member{Key: "v", Value: v})
	text := must.Get(lumigl.Append(nil, g))(t)
	var written struct {
		Vertices map[string]struct{ V json.RawMessage }
	}
	must.Do(t, json.Unmarshal(text, &written))
	return written.Vertices[vertex.Key()].V
}

// hasError reports whether any part of a value is invalid once all outputs are known.
func hasError(v lumigl.Value, all known) bool {
	if _, err := expr.Evaluate(v, all.resolve); err != nil {
		return true
	}
	found := false
	for _, part := range v.Elements() {
		found = found || hasError(part, all)
	}
	for _, part := range v.Members() {
		found = found || hasError(part, all)
	}
	return found
}

// positiveZero replaces -0 by 0, as JavaScript does when it prints numbers.
func positiveZero(v lumigl.Value) (lumigl.Value, bool) {
	f, ok := v.Float()
	return lumigl.IntOf(0), ok && f == 0
}
