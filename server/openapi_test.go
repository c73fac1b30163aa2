package server_test

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/server"
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
