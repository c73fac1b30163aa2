package server_test

import (
	"encoding/json"
	"flag"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/lumi-idl/lumi/server"
	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/test/kit/must"
)

var update = flag.Bool("update", false, "write docs/openapi.json")

// The published document, from which the client is generated, is up to date.
func TestOpenAPI(t *testing.T) {
	const file = "../docs/openapi.json"
	now := server.OpenAPI()
	if *update {
		must.Do(t, os.WriteFile(file, now, 0o644))
	}
	if string(must.Get(os.ReadFile(file))(t)) != string(now) {
		t.Errorf("%s is out of date; run 'make golden generate'", file)
	}
}

// The document passes the recommended rules of Redocly without errors and warnings.
func TestOpenAPILint(t *testing.T) {
	t.Parallel()
	folder := filepath.Join("testdata", "redocly")
	program := filepath.Join(folder, "node_modules", "@redocly", "cli", "bin", "cli.js")
	if _, err := os.Stat(program); err != nil {
		t.Skipf("redocly is not installed; run 'npm ci --prefix server/%s'", filepath.ToSlash(folder))
	}
	file := filepath.Join(t.TempDir(), "openapi.json")
	lint := func(document string) (found struct {
		Totals   struct{ Errors, Warnings int }
		Problems []struct{ RuleID, Message string }
	}) {
		must.Do(t, os.WriteFile(file, []byte(document), 0o600))
		c := exec.CommandContext(t.Context(), "node", program, "lint", "--config="+filepath.Join(folder, "redocly.yaml"), "--format=json", file)
		// Without these variables, redocly looks for updates and reports its use.
		c.Env = append(os.Environ(), "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true", "HOME="+t.TempDir(), "TMPDIR="+t.TempDir())
		var stderr strings.Builder
		c.Stderr = &stderr
		out, _ := c.Output() // it also fails if the document has errors
		if err := json.Unmarshal(out, &found); err != nil {
			t.Fatalf("redocly printed no report: %v\n%s%s", err, out, &stderr)
		}
		return found
	}
	document := string(server.OpenAPI())
	if found := lint(document); found.Totals.Errors+found.Totals.Warnings > 0 {
		t.Errorf("the document breaks rules: %+v", found)
	}
	if found := lint(strings.Replace(document, `"/graphs": {`, `"/graphs/": {`, 1)); found.Totals.Errors != 1 || found.Problems[0].RuleID != "no-path-trailing-slash" {
		t.Errorf("problems of a path with a trailing slash = %+v, want one", found)
	}
}

// TestErrorResponses checks that all operations refer to the description of errors.
func TestErrorResponses(t *testing.T) {
	t.Parallel()
	var document struct {
		Paths map[string]map[string]struct {
			Responses map[string]struct {
				Ref string `json:"$ref"`
			}
		}
	}
	must.Do(t, json.Unmarshal(server.OpenAPI(), &document))
	for path, methods := range document.Paths {
		for method, operation := range methods {
			for _, status := range []string{"4XX", "default"} {
				if got := operation.Responses[status].Ref; got != "#/components/responses/Failure" {
					t.Errorf("%s %s: response %s refers to %q", method, path, status, got)
				}
			}
		}
	}
}

// The document describes all attributes of tasks by their canonical names, and their values.
func TestTaskSchema(t *testing.T) {
	t.Parallel()
	var document struct {
		Components struct {
			Schemas map[string]struct{ Properties map[string]any }
		}
	}
	must.Do(t, json.Unmarshal(server.OpenAPI(), &document))
	want := append(taskgraph.Attributes(), "id", "_id", "_warnings")
	slices.Sort(want)
	if got := slices.Sorted(maps.Keys(document.Components.Schemas["Task"].Properties)); !slices.Equal(got, want) {
		t.Errorf("properties of Task = %v, want %v", got, want)
	}
	compiler := jsonschema.NewCompiler()
	must.Do(t, compiler.AddResource("openapi.json", must.Get(jsonschema.UnmarshalJSON(strings.NewReader(string(server.OpenAPI()))))(t)))
	schema := must.Get(compiler.Compile("openapi.json#/components/schemas/Task"))(t)
	const all = `{"id": "a", "_id": 1, "version": 2, "type": "shell", "groups": ["web", "/db.*/"], "tags": {"yaql_exp": "$.x"}, "tasks": "b", "requires": ["b", {"yaql_exp": "$.x"}],
		"required_for": null, "cross_depends": [{"name": "b", "role": "self", "policy": "any"}, {"yaql_exp": "$.x"}], "cross_depended_by": [], "condition": true, "reexecute_on": ["e"],
		"refresh_on": "p", "idempotent": false, "fail_on_error": true, "fault_tolerance": "10%", "test_pre": {"cmd": "x", "timeout": 1}, "test_post": {"yaql_exp": "$.x"},
		"parameters": {"cmd": "x", "strategy": {"type": "parallel", "amount": 2}, "retries": 1}, "role": "kept", "other": 1}`
	if err := schema.Validate(must.Get(jsonschema.UnmarshalJSON(strings.NewReader(all)))(t)); err != nil {
		t.Errorf("the schema rejects a valid task: %v", err)
	}
	for _, name := range taskgraph.Attributes() {
		for _, value := range []any{map[string]any{"other": "x"}, 5.5} {
			_, _, wrong := taskgraph.ParseTask(must.Get(json.Marshal(map[string]any{"id": "a", name: value}))(t))
			if err := schema.Validate(map[string]any{"id": "a", name: value}); (err == nil) != (wrong == nil) {
				t.Errorf("Validate(%s: %v) = %v, but ParseTask = %v", name, value, err, wrong)
			}
		}
	}
}
