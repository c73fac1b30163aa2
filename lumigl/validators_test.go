package lumigl_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/lumi-idl/lumi/test/kit/must"
)

// question is a file to validate with the schema for a section.
type question struct {
	section string
	text    string
}

// schemaNames maps vertex sections to the names of their schemas.
var schemaNames = map[string]string{"vertices": "graph", "resources": "snapshot"}

// ask validates the files with every installed JSON Schema validator and calls answered for each file in a subtest.
func ask(t *testing.T, questions []question, answered func(t *testing.T, q question, accepts bool)) {
	t.Helper()
	ids := map[string]string{}
	var schemas []json.RawMessage
	for section, name := range schemaNames {
		src := must.Get(os.ReadFile(filepath.Join("..", "docs", "schema", name+".schema.json")))(t)
		var schema struct {
			ID string `json:"$id"`
		}
		if err := json.Unmarshal(src, &schema); err != nil || !strings.HasSuffix(schema.ID, "/"+name+".schema.json") {
			t.Fatalf("schema %s has id %q: %v", name, schema.ID, err)
		}
		ids[section] = schema.ID
		schemas = append(schemas, src)
	}
	validators := map[string]func(t *testing.T, schemas []json.RawMessage, ids map[string]string, questions []question) []bool{
		"go": askGo, "python": askPython, "ajv": askAjv,
	}
	for name, answers := range validators {
		t.Run(name, func(t *testing.T) {
			for i, accepts := range answers(t, schemas, ids, questions) {
				answered(t, questions[i], accepts)
			}
		})
	}
}

func askGo(t *testing.T, schemas []json.RawMessage, ids map[string]string, questions []question) []bool {
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	for _, src := range schemas {
		schema := must.Get(jsonschema.UnmarshalJSON(bytes.NewReader(src)))(t)
		must.Do(t, compiler.AddResource(schema.(map[string]any)["$id"].(string), schema))
	}
	compiled := map[string]*jsonschema.Schema{}
	for section, id := range ids {
		compiled[section] = must.Get(compiler.Compile(id))(t)
	}
	var answers []bool
	for _, q := range questions {
		value := must.Get(jsonschema.UnmarshalJSON(strings.NewReader(q.text)))(t)
		answers = append(answers, compiled[q.section].Validate(value) == nil)
	}
	return answers
}

// askPython runs the jsonschema package of Python, which matches patterns with the module re. It tries the system's
// Python first, since only that has the system's packages.
func askPython(t *testing.T, schemas []json.RawMessage, ids map[string]string, questions []question) []bool {
	for _, python := range []string{"/usr/bin/python3", "python3"} {
		if exec.Command(python, "-c", "import jsonschema").Run() == nil {
			return askProgram(t, schemas, ids, questions, python, filepath.Join("testdata", "validate.py"))
		}
	}
	t.Skip("Python's jsonschema is not installed; run 'apt-get install python3-jsonschema'")
	return nil
}

func askAjv(t *testing.T, schemas []json.RawMessage, ids map[string]string, questions []question) []bool {
	folder := filepath.Join("testdata", "ajv")
	if _, err := os.Stat(filepath.Join(folder, "node_modules", "ajv")); err != nil {
		t.Skipf("ajv is not installed; run 'npm ci --prefix lumigl/%s'", filepath.ToSlash(folder))
	}
	return askProgram(t, schemas, ids, questions, "node", filepath.Join(folder, "validate.mjs"))
}

// askProgram runs a script that reads questions and writes answers as JSON.
func askProgram(t *testing.T, schemas []json.RawMessage, ids map[string]string, questions []question, command ...string) []bool {
	type document struct {
		Schema   string          `json:"schema"`
		Document json.RawMessage `json:"document"`
	}
	var documents []document
	for _, q := range questions {
		documents = append(documents, document{ids[q.section], json.RawMessage(q.text)})
	}
	input := must.Get(json.Marshal(map[string]any{"schemas": schemas, "documents": documents}))(t)
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin = bytes.NewReader(input)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", command[0], err, stderr.String())
	}
	var answers []bool
	if err := json.Unmarshal(out, &answers); err != nil || len(answers) != len(questions) {
		t.Fatalf("%s returned %d answers to %d questions: %v", command[0], len(answers), len(questions), err)
	}
	return answers
}
