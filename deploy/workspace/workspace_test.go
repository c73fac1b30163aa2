package workspace_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"

	"github.com/lumi-idl/lumi/deploy/workspace"
)

// example is a case of testdata/cases.json.
type example struct {
	Text      string          `json:"text"`
	Workspace json.RawMessage `json:"workspace"`
	// Errors lists the expected messages, each preceded by its line and column.
	Errors []string `json:"errors"`
	// SchemaAccepts is set if the JSON Schema does not detect the errors.
	SchemaAccepts bool `json:"schemaAccepts"`
}

func examples(t *testing.T) []example {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	var list []example
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// outcome returns the parsed workspace as JSON, or the errors.
func outcome(t *testing.T, text string) (value any, messages []string) {
	t.Helper()
	w, err := workspace.Parse([]byte(text), "f")
	var wrong *workspace.Error
	switch {
	case errors.As(err, &wrong):
		for _, p := range wrong.Problems {
			messages = append(messages, fmt.Sprintf("%d:%d: %s", p.Line, p.Column, p.Message))
		}
		return nil, messages
	case err != nil:
		t.Fatal(err)
	}
	data, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &value); err != nil {
		t.Fatal(err)
	}
	return value, nil
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, e := range examples(t) {
		value, messages := outcome(t, e.Text)
		if diff := cmp.Diff(e.Errors, messages); diff != "" {
			t.Errorf("Parse(%q): errors (-want +got):\n%s", e.Text, diff)
		}
		var want any
		if len(e.Workspace) > 0 {
			if err := json.Unmarshal(e.Workspace, &want); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want, value); diff != "" {
			t.Errorf("Parse(%q): workspace (-want +got):\n%s", e.Text, diff)
		}
	}
}

// The JSON Schema agrees with Parse for all examples.
func TestJSONSchema(t *testing.T) {
	t.Parallel()
	src, err := os.ReadFile(filepath.Join("..", "..", "docs", "schema", "workspace.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(src))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("workspace.schema.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("workspace.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var documents []map[string]any
	var want []bool
	for _, e := range examples(t) {
		var root yaml.Node
		if err := yaml.Unmarshal([]byte(e.Text), &root); err != nil {
			t.Fatal(err)
		}
		value := plain(&root)
		documents = append(documents, map[string]any{"schema": document.(map[string]any)["$id"], "document": value})
		want = append(want, len(e.Errors) == 0 || e.SchemaAccepts)
		if err := schema.Validate(value); (err == nil) != want[len(want)-1] {
			t.Errorf("Validate(%q) = %v, want accepted: %t", e.Text, err, want[len(want)-1])
		}
	}
	// Editors use other validators, which have other regular expression engines.
	input, err := json.Marshal(map[string]any{"schemas": []any{document}, "documents": documents})
	if err != nil {
		t.Fatal(err)
	}
	scripts := filepath.Join("..", "..", "lumigl", "testdata")
	for _, command := range [][]string{
		{"/usr/bin/python3", filepath.Join(scripts, "validate.py")}, {"node", filepath.Join(scripts, "ajv", "validate.mjs")},
	} {
		t.Run(filepath.Base(command[0]), func(t *testing.T) {
			cmd := exec.Command(command[0], command[1])
			cmd.Stdin = bytes.NewReader(input)
			out, err := cmd.Output()
			if err != nil {
				t.Skipf("validator not installed: %v", err)
			}
			var got []bool
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("accepted documents (-want +got):\n%s", diff)
			}
		})
	}
}

// plain converts a YAML node to JSON in the same way as an editor.
func plain(n *yaml.Node) any {
	switch n.Kind {
	case yaml.DocumentNode:
		return plain(n.Content[0])
	case yaml.MappingNode:
		object := map[string]any{}
		for i := 0; i < len(n.Content); i += 2 {
			object[n.Content[i].Value] = plain(n.Content[i+1])
		}
		return object
	case yaml.SequenceNode:
		list := []any{}
		for _, element := range n.Content {
			list = append(list, plain(element))
		}
		return list
	case yaml.ScalarNode:
		switch n.ShortTag() {
		case "!!null":
			return nil
		case "!!int", "!!float":
			if n.Value != "1_000" { // a string in YAML 1.2
				return json.Number("7")
			}
		case "!!bool":
			return true
		}
		return n.Value
	}
	return nil
}

func TestParseSyntaxErrors(t *testing.T) {
	t.Parallel()
	const form = `invalid YAML; align keys, put a space after each colon, close brackets, and quote values that contain ": "`
	for _, c := range []struct{ text, want string }{
		{"a: ]\npakage: p\nb: 'c", "f:1:4: " + form},
		{"package: p\n environment: dev", "f:2:13: " + form},
		{"environment: dev\n\tpackage: p", "f:2:1: invalid YAML: this is a tab; use spaces"},
		{"environments:\n  é: {\n  \t}\n  \tb: {}", "f:4:3: invalid YAML: this is a tab; use spaces"},
		{"package: @p", "f:1:10: " + form},
		{"environment:dev\npackage: p", "f:2:8: " + form},
		{"package: p\n---\n]", "f:3:1: " + form},
		{"environment: *nowhere", "f:1:14: " + form},
		{"package: \xff", "f: not valid UTF-8"},
		{strings.Repeat("#", 1<<18+1), "f: larger than 256 KiB"},
		{strings.Repeat("[", 50_000), "f:1:10001: " + form},
		{strings.Repeat("? ", 50_000), "f:1:20001: " + form},
	} {
		if _, err := workspace.Parse([]byte(c.text), "f"); err == nil || err.Error() != c.want {
			t.Errorf("Parse(%.30q) error = %v, want %s", c.text, err, c.want)
		}
	}
}

func TestErrorLimit(t *testing.T) {
	t.Parallel()
	for lines, want := range map[int]string{10: "", 11: "f: 1 more error", 12: "f: 2 more errors"} {
		var text strings.Builder
		for i := range lines {
			fmt.Fprintf(&text, "key%d: x\n", i)
		}
		_, err := workspace.Parse([]byte(text.String()), "f")
		got := strings.Split(err.Error(), "\n")
		if want == "" && len(got) != lines || want != "" && (len(got) != 11 || got[10] != want) {
			t.Errorf("Parse with %d errors returned\n%v\nwhose last line should be %q", lines, err, want)
		}
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	deep := filepath.Join(root, "a", "b")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := workspace.Find(deep); !errors.Is(err, fs.ErrNotExist) ||
		!strings.HasPrefix(err.Error(), "no Lumi.yaml in "+deep+" or any parent directory: ") {
		t.Errorf("Find without a file: error %v, want one that wraps fs.ErrNotExist", err)
	}
	file := filepath.Join(root, "Lumi.yaml")
	if err := os.WriteFile(file, []byte("environment: dev"), 0o600); err != nil {
		t.Fatal(err)
	}
	if w, err := workspace.Find(deep); err != nil || w.File != file || w.Environment != "dev" {
		t.Errorf("Find with a file in a parent directory = %+v, %v, want %s", w, err, file)
	}
	if err := os.WriteFile(filepath.Join(root, "a", "Lumi.yaml"), []byte("package: 7"), 0o600); err != nil {
		t.Fatal(err)
	}
	want := filepath.Join(root, "a", "Lumi.yaml") + ":1:10: package must be a string, got a number; write package: NAME"
	if _, err := workspace.Find(deep); err == nil || err.Error() != want {
		t.Errorf("Find with an invalid nearest file: error %v, want %s", err, want)
	}
	if err := os.Mkdir(filepath.Join(deep, "Lumi.yaml"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := workspace.Find(deep); err == nil || !strings.HasPrefix(err.Error(), "cannot read the workspace: ") {
		t.Errorf("Find with a folder named Lumi.yaml: error %v, want a read error", err)
	}
}

// Parse does not panic, and it lists problems in file order.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"modules: {a: a.ts}\nplugins: &x {b: *x}",
		"config: {a: [0x1, .inf, {b: 1e999}], m: {c: ~}}\nmodules: {m: {program: m.ts, config: {}}}\nproviders: {a: {b: {exec: c}}}",
		"? [a]\n: !t b\n<<: {c: d}", "- ~\n---\n%YAML 1.1",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		_, err := workspace.Parse(src, "f")
		if err == nil {
			return
		}
		var wrong *workspace.Error
		if !errors.As(err, &wrong) || len(wrong.Problems) == 0 {
			t.Fatal(err)
		}
		line := 0
		for _, p := range wrong.Problems {
			if p.Line < line || (p.Line == 0) != (p.Column == 0) || p.Message == "" {
				t.Errorf("Parse(%q): invalid or unordered problems %+v", src, wrong.Problems)
			}
			line = p.Line
		}
	})
}
