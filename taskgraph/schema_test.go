package taskgraph_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"
	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	src := must.Get(os.ReadFile(filepath.Join("..", "docs", "schema", "tasks.schema.json")))(t)
	document := must.Get(jsonschema.UnmarshalJSON(bytes.NewReader(src)))(t)
	compiler := jsonschema.NewCompiler()
	must.Do(t, compiler.AddResource("tasks.schema.json", document))
	return must.Get(compiler.Compile("tasks.schema.json"))(t)
}

func TestSchemaExamples(t *testing.T) {
	t.Parallel()
	s, judged := schema(t), 0
	for _, e := range examples {
		var value any
		if e.text == "" || yaml.Unmarshal([]byte(e.text), &value) != nil {
			continue // not valid YAML
		}
		if judged++; (s.Validate(value) == nil) != (e.errors == "" || e.beyond) {
			t.Errorf("Validate(%q) = %v, but Parse = %q", e.text, s.Validate(value), e.errors)
		}
	}
	if judged < len(examples)*2/3 {
		t.Errorf("%d of %d examples are valid YAML, want at least two thirds", judged, len(examples))
	}
}

func TestSchema(t *testing.T) {
	t.Parallel()
	s := schema(t)
	names := []string{
		"version", "type", "roles", "groups", "tasks", "requires", "required_for", "cross_depends", "cross_depended_by", "condition",
		"reexecute_on", "refresh_on", "idempotent", "fail_on_error", "fault_tolerance", "test_pre", "test_post", "parameters", "custom", "_id",
	}
	leaf := rapid.SampledFrom([]any{
		nil, true, false, "", "a", "a b", "self", "*", "/a.*/", "/a", "all", "any", "parallel", "one_by_one", "0%", "50%", 0, 1, 7, -1, 1.5, 2.0, 20000,
		31622400, 31622401, []any{}, map[string]any{},
	})
	list := rapid.Custom(func(t *rapid.T) any {
		return rapid.SliceOfN(leaf, 1, 2).Draw(t, "items")
	})
	object := func(value *rapid.Generator[any], keys ...string) *rapid.Generator[any] {
		return rapid.Custom(func(t *rapid.T) any {
			return rapid.MapOfN(rapid.SampledFrom(keys), value, 1, len(keys)).Draw(t, "object")
		})
	}
	small := rapid.OneOf(leaf, list)
	cross := rapid.Custom(func(t *rapid.T) any {
		o := object(small, "name", "role", "policy", "other").Draw(t, "cross").(map[string]any)
		if rapid.IntRange(0, 3).Draw(t, "named") > 0 {
			o["name"] = "b"
		}
		return []any{o}
	})
	value := rapid.OneOf(small, cross, object(small, "cmd", "timeout", "retries", "other"),
		object(rapid.OneOf(small, object(leaf, "type", "amount")), "timeout", "retries", "interval", "strategy"))
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		task := rapid.MapOfN(rapid.SampledFrom(names), value, 1, 2).Draw(t, "task")
		if text, isText := task["condition"].(string); isText && text != "" {
			task["condition"] = "$.a" // the schema does not check conditions
		}
		task["id"] = "t"
		src := must.Get(json.Marshal([]any{task}))(t)
		document := must.Get(jsonschema.UnmarshalJSON(bytes.NewReader(src)))(t)
		_, wrong := taskgraph.Parse(src, "f")
		if invalid := s.Validate(document); (invalid == nil) != (wrong == nil) {
			t.Fatalf("Parse = %v, but Validate = %v\n%s", wrong, invalid, src)
		}
		if wrong == nil {
			accepted++
		}
	})
	if accepted == 0 {
		t.Error("Parse rejected all generated tasks")
	}
}
