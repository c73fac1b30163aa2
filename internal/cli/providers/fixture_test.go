package providers

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/document"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// The JSON schema of fixtures accepts exactly the fixtures that the command accepts.
func TestFixtureSchema(t *testing.T) {
	t.Parallel()
	schema := fixtureSchema(t)
	example := must.Get(os.ReadFile("../../../cmd/lumi/testdata/examples/library.json"))(t)
	const right = `{"vertices": {"a": {"type": "a:b:C", "name": "a", "create": {"x": 1}}}}`
	with := func(members string) string { return strings.Replace(right, `"name"`, members+`, "name"`, 1) }
	call := func(members string) string {
		members = `"type": "a:b:C", ` + members
		if !strings.Contains(members, `"call"`) {
			members += `, "call": {"x": 1}`
		}
		return `{"vertices": {"a": {` + members + `}}}`
	}
	const hidden = `{"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "value": {}}`
	for src, want := range map[string]bool{
		string(example): true,
		right:           true,
		strings.Replace(right, `{"a"`, `{"b": {"type": "a:b:C", "create": {"x": {"#ref": "a", "property": "y"}}}, "a"`, 1): true,
		with(`"computed": [], "mayBeEmpty": ["a"], "mayDiffer": ["a"], "known": ["a"]`):                                    true,
		with(`"unknown": ["a.b"], "ignores": [{"x": null}]`):                                                               true,
		with(`"updates": [{"set": {}, "changes": ["a"], "expect": {}}]`):                                                   true,
		with(`"replaces": [{"set": {}, "because": ["a"], "deleteFirst": true}]`):                                           true,
		with(`"upgrades": [{"stored": {}, "set": {}, "changes": [], "expect": {}}]`):                                       true,
		with(`"faults": [{"set": {"x": ` + hidden + `}, "expect": ["a"]}]`):                                                true,
		call(`"expect": {}, "computed": ["x"], "mayBeEmpty": ["x"], "faults": [{"set": {}, "expect": []}]`):                true,
		call(`"name": "a"`):     false,
		call(`"create": {}`):    false,
		call(`"updates": []`):   false,
		call(`"mayDiffer": []`): false,
		call(`"faults": [{}]`):  false,
		call(`"computed": [1]`): false,
		call(`"arguments": {}`): false,
		call(`"call": []`):      false,
		`{"ref": "$ref", "configuration": {"#ref": "b"}, ` + right[1:]: true,
		`{"vertices": {}}`:                                       false,
		`{"resources": {}}`:                                      false,
		`{"configuration": {}}`:                                  false,
		`{"configuration": 1, ` + right[1:]:                      false,
		`{"configuration": ` + hidden + `, ` + right[1:]:         false,
		`{"config": {}, ` + right[1:]:                            false,
		`{"vertices": {"a": {"create": {}}}}`:                    false,
		`{"vertices": {"a": {"type": "a:b:C"}}}`:                 false,
		`{"vertices": {"a": {"type": "a", "create": {}}}}`:       false,
		strings.Replace(right, `{"x": 1}`, `[]`, 1):              false,
		strings.Replace(right, `{"x": 1}`, hidden, 1):            false,
		strings.Replace(right, `"name": "a"`, `"name": ""`, 1):   false,
		strings.Replace(right, `"name": "a"`, `"name": "\n"`, 1): false,
		with(`"create2": {}`):                                    false,
		with(`"expect": []`):                                     false,
		with(`"expect": {"#ref": "a"}`):                          false,
		with(`"computed": [""]`):                                 false,
		with(`"computed": "a"`):                                  false,
		with(`"ignores": {}`):                                    false,
		with(`"updates": [{}]`):                                  false,
		with(`"updates": [{"set": {}, "because": []}]`):          false,
		with(`"updates": [{"set": {}, "stored": {}}]`):           false,
		with(`"replaces": [{"set": {}, "changes": []}]`):         false,
		with(`"replaces": [{"set": {}, "deleteFirst": 1}]`):      false,
		with(`"upgrades": [{"set": {}}]`):                        false,
		with(`"upgrades": [{"stored": {}, "because": []}]`):      false,
		with(`"faults": [{"set": {}}]`):                          false,
		with(`"faults": [{"set": {}, "expect": [1]}]`):           false,
		with(`"faults": [{"expect": []}]`):                       false,
	} {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(src))
		if err != nil {
			t.Fatalf("invalid JSON %s: %v", src, err)
		}
		if err := schema.Validate(value); (err == nil) != want {
			t.Errorf("schema.Validate(%s) = %v, want valid = %v", src, err, want)
		}
		var stderr bytes.Buffer
		con := console.New(strings.NewReader(src), io.Discard, &stderr, os.Getenv)
		if _, err := readFixture(con, document.StdinArg); (err == nil) != want {
			t.Errorf("readFixture(%s) = %v, want valid = %v\n%s", src, err, want, &stderr)
		}
	}
}

func fixtureSchema(t *testing.T) *jsonschema.Schema {
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	id := ""
	for _, name := range []string{"graph", "snapshot", "fixture"} {
		src := must.Get(os.ReadFile(filepath.Join("../../../docs/schema", name+".schema.json")))(t)
		value := must.Get(jsonschema.UnmarshalJSON(bytes.NewReader(src)))(t)
		id, _ = value.(map[string]any)["$id"].(string)
		must.Do(t, compiler.AddResource(id, value))
	}
	return must.Get(compiler.Compile(id))(t)
}

// The fixtures shown in docs/conformance.md are identical to the files used in its examples.
func TestConformancePage(t *testing.T) {
	t.Parallel()
	page := must.Get(os.ReadFile("../../../docs/conformance.md"))(t)
	found := 0
	for _, part := range strings.Split(string(page), "\n```json ")[1:] {
		name, rest, _ := strings.Cut(part, "\n")
		text, _, _ := strings.Cut(rest, "```")
		file, err := os.ReadFile(filepath.Join("../../../cmd/lumi/testdata/examples", name))
		if err != nil || string(file) != text {
			t.Errorf("fixture %s differs from the page (read error %v)", name, err)
		}
		found++
	}
	if found != 2 {
		t.Errorf("the page shows %d fixtures, want 2", found)
	}
}

func FuzzFixture(f *testing.F) {
	example := must.Get(os.ReadFile("../../../cmd/lumi/testdata/examples/library.json"))(f)
	f.Add(string(example))
	f.Add(`{"config\"": {}, "vertices": {"a": {"typ\\": "x", "updates": [{"sett": 1}], "create": {"#ref": "a"}}, "b": 3}}`)
	f.Add(`{"ref":"$","vertices":{"a":{"type":{"$":"b"},"create":{"x":{"$":"b"}}},"b":{"create":{"y":{"$":"a"}}}}}`)
	f.Fuzz(func(t *testing.T, src string) {
		var stdout, stderr bytes.Buffer
		con := console.New(strings.NewReader(src), &stdout, &stderr, os.Getenv)
		con.JSON = true
		if _, err := readFixture(con, document.StdinArg); err == nil {
			return
		}
		_ = con.Stdout.Flush()
		for line := range strings.Lines(stdout.String()) {
			var fault document.JSONFault
			if err := json.Unmarshal([]byte(line), &fault); err != nil || fault.Offset > len(src) || fault.End > len(src) {
				t.Errorf("invalid error report (%v): %s", err, line)
			}
		}
	})
}
