package lumigl_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/tools/txtar"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// schemas are those of docs/schema, by the section that their form of files has.
func schemas(t *testing.T) map[string]*jsonschema.Schema {
	t.Helper()
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiled := map[string]*jsonschema.Schema{}
	files := map[string]string{"vertices": "graph", "resources": "snapshot"}
	ids := map[string]string{}
	for section, name := range files {
		src, err := os.ReadFile(filepath.Join("..", "docs", "schema", name+".schema.json"))
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(src))
		if err != nil {
			t.Fatal(err)
		}
		ids[section] = doc.(map[string]any)["$id"].(string)
		if !strings.HasSuffix(ids[section], "/"+name+".schema.json") {
			t.Errorf("the schema %s calls itself %s", name, ids[section])
		}
		if err := compiler.AddResource(ids[section], doc); err != nil {
			t.Fatal(err)
		}
	}
	for section, id := range ids {
		schema, err := compiler.Compile(id)
		if err != nil {
			t.Fatal(err)
		}
		compiled[section] = schema
	}
	return compiled
}

// sectionOf is the section that a JSON text has, "vertices" if it has none.
func sectionOf(src string) string {
	var top map[string]json.RawMessage
	if json.Unmarshal([]byte(src), &top) == nil && top["resources"] != nil {
		return "resources"
	}
	return "vertices"
}

// TestSchemasAccept holds the schemas against all files that the reader accepts: the test data, and what the programs of
// the examples evaluate to, in the bytes that they wrote and in canonical ones.
func TestSchemasAccept(t *testing.T) {
	compiled := schemas(t)
	files, err := filepath.Glob("testdata/valid/*.json")
	if err != nil {
		t.Fatal(err)
	}
	evaluated := graphsOfExamples(t)
	if len(files) == 0 || len(evaluated) == 0 {
		t.Fatal("there are no files")
	}
	for _, name := range append(files, evaluated...) {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := lumigl.Parse(string(src))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		canonical, err := lumigl.Append(nil, doc)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, text := range []string{string(src), string(canonical)} {
			value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			section := sectionOf(text)
			if err := compiled[section].Validate(value); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			for other, schema := range compiled {
				if other != section && schema.Validate(value) == nil {
					t.Errorf("%s has %q and passes for a file that has %q", name, section, other)
				}
			}
		}
	}
}

// graphsOfExamples are the files that programs evaluated to.
func graphsOfExamples(t *testing.T) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(filepath.Join("..", "examples"), func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "node_modules" {
			return fs.SkipDir
		}
		if err == nil && d.Name() == "graph.json" {
			found = append(found, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestSchemasRefuse holds the schemas against the broken files of the other tests, as far as they are JSON and break a
// rule that a schema can express.
func TestSchemasRefuse(t *testing.T) {
	compiled := schemas(t)
	archives, err := filepath.Glob("testdata/faults/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for _, name := range archives {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range archive.Files {
			src := input(t, file)
			value, err := jsonschema.UnmarshalJSON(strings.NewReader(src))
			if err != nil || !breaksShape(faultsOf(t, src)) {
				continue
			}
			refused++
			if compiled[sectionOf(src)].Validate(value) == nil {
				t.Errorf("%s: the schema accepts %s", name, file.Name)
			}
		}
	}
	if refused < 15 {
		t.Errorf("only %d files were looked at", refused)
	}
}

// TestSchemaOfNames holds the schema's patterns for URNs and types against what the reader takes for such.
func TestSchemaOfNames(t *testing.T) {
	compiled := schemas(t)["resources"]
	const right = "urn:lumi:prod::my/shop:index::aws:ec2/vpc:VPC::main"
	for _, change := range []struct{ old, new string }{
		{"", ""}, {"main", "a::b c/é"}, {"VPC", "Größe_1"}, {"ec2/vpc", "eC2.x/é-1"}, {"prod", "prod-1.é"}, {"my/shop", "a-b_1/c"},
		{"main", ""}, {"main", "a\nb"}, {"main", "a\u0085b"}, {"VPC", "1T"}, {"VPC", "T-X"}, {"VPC", ""}, {"aws:", "AWS:"},
		{"ec2/vpc", "ec2//vpc"}, {"ec2/vpc", "ec2 vpc"}, {"ec2/vpc", `ec2\vpc`}, {"ec2/vpc", ""}, {"prod", "a b"}, {"prod", "a\u200bb"},
		{"my/shop", "my/"}, {"my/shop", "1"}, {"urn:", "URN:"}, {"index", "a:b"}, {"::main", ""},
	} {
		key := strings.Replace(right, change.old, change.new, 1)
		of, err := urn.URN(key).Parts()
		if err != nil {
			of.Type = "aws:ec2/vpc:VPC"
		}
		validate := func(key, typ string) bool {
			resource := map[string]any{"type": typ, "properties": map[string]any{}}
			return compiled.Validate(map[string]any{"resources": map[string]any{key: resource}}) == nil
		}
		if found := validate(key, string(of.Type)); found != (err == nil) {
			t.Errorf("the schema accepts %q: %t; the reader says %v", key, found, err)
		}
		parts := strings.Split(key, "::")
		if len(parts) < 3 {
			continue
		}
		_, err = tokens.Parse(parts[2])
		if found := validate(right, parts[2]); found != (err == nil) {
			t.Errorf("the schema accepts the type %q: %t; the reader says %v", parts[2], found, err)
		}
	}
}

// breaksShape reports whether a schema can find a fault. What another decoder makes of keys that are there twice is its
// own affair.
func breaksShape(found []lumigl.Fault) bool {
	if slices.ContainsFunc(found, func(f lumigl.Fault) bool { return f.Code == lumigl.DuplicateKeyFault }) {
		return false
	}
	for _, f := range found {
		switch f.Code {
		case lumigl.FormFault, lumigl.ShapeFault, lumigl.TagFault, lumigl.ReferenceFault, lumigl.URNFault:
			return true
		}
	}
	return false
}
