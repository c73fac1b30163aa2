package desired_test

import (
	"context"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/lumi-idl/lumi/lang/muranopl/catalog"
	"github.com/lumi-idl/lumi/lang/muranopl/desired"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// FuzzEvaluate evaluates models after arbitrary last deployments. If a model is valid, the graph must be valid, a
// second evaluation must return the same result, and the saved model must be valid input for the next evaluation.
func FuzzEvaluate(f *testing.F) {
	archive := must.Get(txtar.ParseFile("testdata/objects.txtar"))(f)
	classes := classesOf(f, archive)
	var last string
	for _, file := range archive.Files {
		if documents, err := catalog.Decode(file.Name, file.Data); err == nil && len(documents) > 0 {
			f.Add(string(file.Data), last)
			last = `{"file": ` + string(file.Data) + `, "saved": ` + string(file.Data) + `}`
			f.Add(string(file.Data), last)
		}
	}
	f.Add(`{"?": {"id": "r", "type": "Root"}}`, `{"saved": {"?": {"id": "r", "type": "Root"}, "helper": {"?": {"id": "r", "type": "Helper"}, "root": "r"}}}`)
	f.Add(`{"?": {"id": "r", "type": "Root"}}`, `{"saved": {"?": {"id": "x", "type": "App"}, "title": "t", "child": {"?": {}}}}`)
	f.Add(`{"?": {"id": "r", "type": "Root"}}`, `{"saved": {"?": 1, "x": {"?": {"id": "y", "type": "App"}, "title": "a"}}}`)
	packages := must.Get(schemas())(f)
	f.Fuzz(func(t *testing.T, model, last string) {
		documents, err := catalog.Decode("env.json", []byte(model))
		if err != nil || len(documents) == 0 {
			t.Skip()
		}
		before, err := lumigl.Parser{MaxDepth: 100}.ParseValue(last)
		if err != nil {
			t.Skip()
		}
		in := desired.Input{Module: "my/shop", Environment: "dev", Classes: classes, Schemas: packages, Model: documents[0], Last: before}
		graph, saved, err := desired.Evaluate(context.Background(), in)
		if err != nil {
			return
		}
		again, _, err := desired.Evaluate(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		if text := textOf(t, graph, saved); textOf(t, again, saved) != text {
			t.Fatal("a second call of Evaluate returned another result")
		}
		in.Last = saved
		if _, _, err := desired.Evaluate(context.Background(), in); err != nil {
			t.Fatalf("Evaluate with the saved model: %v", err)
		}
	})
}
