package lumigl_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/tools/txtar"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// sectionOf returns the key of the vertex section of a JSON text. It defaults to "vertices".
func sectionOf(src string) string {
	var top map[string]json.RawMessage
	if json.Unmarshal([]byte(src), &top) == nil && top["resources"] != nil {
		return "resources"
	}
	return "vertices"
}

// The schemas accept all files that the parser accepts: the test data, and the graphs of the examples as written by
// their programs and in canonical form. Each file is accepted only by the schema of its form.
func TestSchemasAccept(t *testing.T) {
	files := must.Get(filepath.Glob("testdata/valid/*.json"))(t)
	evaluated := graphsOfExamples(t)
	if len(files) == 0 || len(evaluated) == 0 {
		t.Fatal("no test files found")
	}
	var questions []question
	for _, name := range append(files, evaluated...) {
		src := must.Get(os.ReadFile(name))(t)
		doc, err := lumigl.Parse(string(src))
		if err != nil {
			t.Errorf("Parse(%s): %v", name, err)
			continue
		}
		canonical, err := lumigl.Append(nil, doc)
		if err != nil {
			t.Errorf("Append(%s): %v", name, err)
		}
		for section := range schemaNames {
			questions = append(questions, question{section, string(src)}, question{section, string(canonical)})
		}
	}
	ask(t, questions, func(t *testing.T, q question, accepts bool) {
		if own := q.section == sectionOf(q.text); accepts != own {
			t.Errorf("schema for %q accepts the file = %t, want %t\n%s", q.section, accepts, own, q.text)
		}
	})
}

// graphsOfExamples returns the names of the examples' graph files.
func graphsOfExamples(t *testing.T) []string {
	t.Helper()
	var found []string
	must.Do(t, filepath.WalkDir(filepath.Join("..", "examples"), func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "node_modules" {
			return fs.SkipDir
		}
		if err == nil && d.Name() == "graph.json" {
			found = append(found, name)
		}
		return err
	}))
	return found
}

// The schemas reject the invalid files of other tests that are JSON and break a rule that a schema can express.
func TestSchemasReject(t *testing.T) {
	archives := must.Get(filepath.Glob("testdata/faults/*.txtar"))(t)
	var questions []question
	for _, name := range archives {
		archive := must.Get(txtar.ParseFile(name))(t)
		for _, file := range archive.Files {
			src := input(t, file)
			if json.Valid([]byte(src)) && utf8.ValidString(src) && breaksShape(faultsOf(t, src)) {
				questions = append(questions, question{sectionOf(src), src})
			}
		}
	}
	if len(questions) < 15 {
		t.Errorf("%d files were checked, want at least 15", len(questions))
	}
	ask(t, questions, func(t *testing.T, q question, accepts bool) {
		const tooLarge = "18446744073709551616" // rounded by JavaScript to the same number as the largest serial
		rounded := strings.HasSuffix(t.Name(), "/ajv") && strings.Contains(q.text, tooLarge)
		if accepts && !rounded {
			t.Errorf("the schema accepts an invalid file:\n%s", q.text)
		}
	})
}

// TestSchemaNames compares the patterns for URNs and types in the schema with the parser, for every part of a URN. The
// schema accepts all characters above U+009F, since validators support different versions of Unicode. Otherwise, the
// results are the same.
func TestSchemaNames(t *testing.T) {
	const right = "urn:lumi:prod::my/shop:index::aws:ec2/vpc:VPC::main"
	type change struct{ old, new string }
	changes := []change{
		{"", ""}, {"main", "a::b c/é"}, {"VPC", "Größe_1"}, {"ec2/vpc", "eC2.x/é-1"}, {"prod", "prod-1.é"}, {"my/shop", "a-b_1/c"},
		{"main", ""}, {"VPC", "1T"}, {"VPC", "T-X"}, {"VPC", ""}, {"aws:", "AWS:"}, {"ec2/vpc", "ec2//vpc"}, {"ec2/vpc", ""},
		{"my/shop", "my/"}, {"my/shop", "1"}, {"urn:", "URN:"}, {"urn:", "x urn:"}, {"index", "a:b"}, {"::main", ""}, {"my/shop", "é"},
	}
	const edges = "\u0000\t\n\v\f\r\u001c\u001f !/0:;@A[\\]^_`a{~\u007f\u0080\u0085\u009f\u00a0¡ªö\u200b\u2028\u3000\ud7ff\ue000\ufeff\uffff" +
		"\U00010000𝒳😀\U0010ffff"
	for _, r := range edges {
		for _, part := range []string{"prod", "my/shop", "index", "ec2/vpc", "VPC", "main"} {
			for _, text := range []string{string(r), string(r) + part, part[:1] + string(r) + part[1:], part + string(r)} {
				changes = append(changes, change{part, text})
			}
		}
	}
	var questions []question
	type reading struct {
		text string
		err  error
	}
	want := map[question]reading{}
	put := func(key, typ string, err error) {
		resource := map[string]any{"type": typ, "properties": map[string]any{}}
		text := must.Get(json.Marshal(map[string]any{"resources": map[string]any{key: resource}}))(t)
		q := question{"resources", string(text)}
		questions = append(questions, q)
		want[q] = reading{key + typ, err}
	}
	for _, c := range changes {
		key := strings.Replace(right, c.old, c.new, 1)
		of, err := urn.URN(key).Parts()
		if err != nil {
			of.Type = "aws:ec2/vpc:VPC"
		}
		put(key, string(of.Type), err)
		if parts := strings.Split(key, "::"); len(parts) >= 3 {
			_, err := tokens.Parse(parts[2])
			put(right, parts[2], err)
		}
	}
	isHigh := func(r rune) bool { return r > '\u009f' }
	ask(t, questions, func(t *testing.T, q question, accepts bool) {
		read := want[q]
		lenient := accepts && strings.ContainsFunc(read.text, isHigh)
		if accepts != (read.err == nil) && !lenient {
			t.Errorf("the schema accepts the file = %t, but Parse = %v\n%s", accepts, read.err, q.text)
		}
	})
}

// breaksShape reports whether a schema can find any of the faults. It returns false if there are duplicate keys, which
// decoders treat differently.
func breaksShape(found []lumigl.Fault) bool {
	if slices.ContainsFunc(found, func(f lumigl.Fault) bool { return f.Code == lumigl.DuplicateKeyFault }) {
		return false
	}
	for _, f := range found {
		switch f.Code {
		case lumigl.FormFault, lumigl.ShapeFault, lumigl.TagFault, lumigl.ReferenceFault, lumigl.URNFault,
			lumigl.OptionFault, lumigl.ExpressionFault:
			return true
		}
	}
	return false
}
