package diag

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestGroups holds that the catalogue has the constants of code.go, in their groups and their order, and no others.
func TestGroups(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "code.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var want []Group
	for _, d := range file.Decls {
		gen, ok := d.(*ast.GenDecl)
		if !ok || gen.Tok != token.CONST {
			continue
		}
		g := Group{Title: strings.TrimSuffix(gen.Doc.Text(), ".\n")}
		for _, spec := range gen.Specs {
			spec := spec.(*ast.ValueSpec)
			name, value := spec.Names[0].Name, spec.Values[0].(*ast.BasicLit).Value
			if value != `"`+name+`"` {
				t.Errorf("%s has the value %s", name, value)
			}
			g.Codes = append(g.Codes, Code(name))
		}
		want = append(want, g)
	}
	if diff := cmp.Diff(want, Groups()); diff != "" {
		t.Errorf("groups differ from code.go (-code.go +groups):\n%s", diff)
	}
}

// TestEntries holds that each code has an entry and each entry a code, and that all entries have one form.
func TestEntries(t *testing.T) {
	files, err := catalog.ReadDir("catalog")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if code := Code(strings.TrimSuffix(f.Name(), ".md")); !slices.Contains(Codes(), code) {
			t.Errorf("no code goes with %s", f.Name())
		}
	}
	for _, code := range Codes() {
		entry := Entry(code)
		var headings []string
		fenced := false
		for line := range strings.Lines(entry) {
			if strings.HasPrefix(line, "```") {
				fenced = !fenced
			} else if strings.HasPrefix(line, "#") && !fenced {
				headings = append(headings, strings.TrimSpace(line))
			}
			if len(line) > 121 {
				t.Errorf("%s: a line is longer than 120 bytes: %s", code, line)
			}
		}
		if diff := cmp.Diff([]string{"# " + string(code), "## Wrong", "## Right"}, headings); diff != "" {
			t.Errorf("%s: headings (-want +got):\n%s", code, diff)
		}
		if paragraphs := strings.Split(entry, "\n\n"); len(paragraphs) < 3 || !oneSentence(paragraphs[1]) {
			t.Errorf("%s: the entry does not begin with a sentence that states the rule", code)
		}
		if fenced {
			t.Errorf("%s: a fence is left open", code)
		}
	}
	if Entry("NoSuchCode") != "" {
		t.Error("there is an entry for a code that does not exist")
	}
}

func oneSentence(paragraph string) bool {
	return strings.HasSuffix(paragraph, ".") && !strings.Contains(paragraph, ". ") && !strings.HasPrefix(paragraph, "#")
}

func TestExplain(t *testing.T) {
	want, ok := Explain("FileName")
	if !ok || !strings.HasPrefix(want, "# FileName\n\nThe name of an IDL file") {
		t.Fatalf("Explain(FileName) = %q, %t", want, ok)
	}
	if strings.Contains(want, "```") || !strings.Contains(want, "\nindex.go:\n\n    package shop\n\n    type Queue struct {\n") {
		t.Errorf("the code is not indented:\n%s", want)
	}
	if got, ok := Explain("fileNAME"); got != want || !ok {
		t.Errorf("letter case matters: %q, %t", got, ok)
	}
	for _, code := range []string{"", "FileNames", "catalog/FileName", "../code"} {
		if got, ok := Explain(code); got != "" || ok {
			t.Errorf("Explain(%q) = %q, %t", code, got, ok)
		}
	}
}
