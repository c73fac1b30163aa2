package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/internal/cli/console"
)

// unmarked contains OpenTofu files, whose secrets are not signed. The telltale occurs as a value.
var unmarked = map[string]string{
	"state": `{
  "version": 4,
  "terraform_version": "1.9.0",
  "serial": 1,
  "lineage": "x",
  "outputs": {
    "managed_by": { "value": "opentofu", "type": "string" },
    "resources": { "value": { "resources": { "a": "hunter2" } }, "type": ["object", {}], "sensitive": true }
  },
  "resources": []
}
`,
	"state without its version": `{"outputs": {"p": {"value": "hunter2", "type": "string", "sensitive": true}}, "resources": []}`,
	"old state": `{"version": 3, "terraform_version": "0.11.0", "modules": [{"outputs": {},
 "resources": {"a_b.n": {"type": "a_b", "primary": {"attributes": {"password": "hunter2"}}}}}]}`,
	"show -json": `{
  "format_version": "1.0",
  "terraform_version": "1.9.0",
  "values": {
    "outputs": { "p": { "sensitive": true, "type": "string", "value": "hunter2" } },
    "root_module": {
      "resources": [
        {
          "address": "a_b.n",
          "values": { "tags": { "ManagedBy": "opentofu" }, "resources": { "password": "hunter2" } },
          "sensitive_values": { "tags": {}, "resources": { "password": true } }
        }
      ]
    }
  }
}
`,
	"output -json": `{
  "vertices": { "sensitive": true, "type": "string", "value": "hunter2" },
  "pw": {
    "sensitive": true,
    "type": ["object", { "resources": ["map", "string"] }],
    "value": {
      "resources": { "a": "hunter2" }
    }
  },
  "resources": {
    "sensitive": false, "type": "string", "value": "opentofu hunter2" }
}
`,
	"output -json without types": `{"vertices": {"value": {"password": "hunter2"}, "sensitive": true}}`,
}

// No part of a broken OpenTofu file is shown, whether the file has many lines or one.
func TestUnmarkedSecretsHidden(t *testing.T) {
	t.Parallel()
	holds := func(t *testing.T, src string) {
		t.Helper()
		for _, args := range [][]string{
			{"check", "-"}, {"check", "--json", "-"}, {"show", "-"}, {"fmt", "--check", "-"}, {"convert", "-"},
		} {
			var stdout, stderr bytes.Buffer
			if runLumi(t.Context(), args, strings.NewReader(src), &stdout, &stderr, noEnv) == console.ExitOK {
				continue // the conversion succeeded
			}
			if out := stdout.String() + stderr.String(); strings.Contains(out, telltale) || strings.Contains(out, " | ") {
				t.Errorf("lumi %v printed part of\n%s\nin its output:\n%s", args, src, out)
			}
		}
	}
	for name, src := range unmarked {
		t.Run(name, func(t *testing.T) {
			for _, src := range []string{src, strings.ReplaceAll(src, "\n", " ")} {
				holds(t, src)
				holds(t, strings.Replace(src, "}", ",,}", 1))
				for _, broken := range breakages(src) {
					holds(t, broken)
				}
			}
		})
	}
}

func TestOrdinaryNamesShown(t *testing.T) {
	const names = `"terraform_version": "1", "sensitive_attributes": [], "sensitive": true, "value": 1, "type": "s"`
	const resource = `"urn:lumi:prod::p:index::a:b:V::v": { "type": "a:b:V", "properties": { ` + names + `, "size": 01 } }`
	for _, src := range []string{
		"{\n  \"resources\": {\n" + resource + "\n  }\n}\n",
		"{\n  \"args\": { " + names + " },\n  \"resources\": {\n" + resource + "\n  },\n}\n",
		"{\n  \"vertices\": { \"sensitive\": { \"type\": \"a:b:V\", \"properties\": { " + names + ", \"size\": 01 } } }\n}\n",
		"{\n  \"resources\": { // first\n # and\n /* last */\n" + resource + "\n  }\n}\n",
		"{\n  resources: {\n" + resource + ",\n  }\n}\n",
		"{\n  \"resources\": {\n" + resource + "\n",
		"{\n  \"vertexes\": { \"a\": { \"properties\": { \"data\": \"sensitive\", \"size\": 01 } } }\n}\n",
	} {
		var stderr bytes.Buffer
		code := runLumi(t.Context(), []string{"check", "-"}, strings.NewReader(src), &bytes.Buffer{}, &stderr, noEnv)
		if out := stderr.String(); code != console.ExitWrong || strings.Contains(out, "secret") || !strings.Contains(out, `"size": 01`) {
			t.Errorf("lumi check = exit code %d for\n%s\nwant the line in the output:\n%s", code, src, out)
		}
	}
}
