package diff_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lumi-idl/lumi/lumigl/diff"
)

func TestSchema(t *testing.T) {
	file, err := os.Open("../../testdata/golden/modules/schema.json")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	got := diff.Replaces{"modules:index:Site": {"name"}}
	if err := got.AddSchema(file); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(diff.Replaces{
		"modules:iam:Role": {"name"}, "modules:index:Site": {"name"},
	}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestOutputs(t *testing.T) {
	const schema = `{"version": 1, "modules": [{"files": [{"decls": [
		{"kind": "struct", "token": "a:b:S", "properties": [{"name": "x", "out": true}]},
		{"kind": "resource", "token": "a:b:R", "properties": [{"name": "x", "out": true}, {"name": "y"}, {"name": "z", "out": true}]}
	]}]}]}`
	got := diff.Outputs{"a:b:R": {"z"}}
	if err := got.AddSchema(strings.NewReader(schema)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(diff.Outputs{"a:b:R": {"z", "x"}}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if err := got.AddSchema(strings.NewReader("{}")); err == nil {
		t.Error("no schema is taken for one")
	}
}

func TestSchemaErrors(t *testing.T) {
	for text, want := range map[string]string{
		``:                            "this is no schema of cidlc: EOF",
		`[]`:                          "this is no schema of cidlc: json: cannot unmarshal array into Go value of type diff.schemaJSON",
		`{}`:                          `this is no schema of cidlc: it has no "version" or no "modules"`,
		`{"version":1}`:               `this is no schema of cidlc: it has no "version" or no "modules"`,
		`{"modules":[]}`:              `this is no schema of cidlc: it has no "version" or no "modules"`,
		`{"version":2,"modules":[]}`:  "the schema has version 2, and only 1 is known",
		`{"version":1,"modules":[]}x`: "this is no schema of cidlc: there is more behind it",
	} {
		if err := (diff.Replaces{}).AddSchema(strings.NewReader(text)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
