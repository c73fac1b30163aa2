package diag

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestCatalogGroups(t *testing.T) {
	file := must.Get(parser.ParseFile(token.NewFileSet(), "code.go", nil, parser.ParseComments))(t)
	var want []string
	for _, d := range file.Decls {
		gen, ok := d.(*ast.GenDecl)
		if !ok || gen.Tok != token.CONST {
			continue
		}
		for _, spec := range gen.Specs {
			spec := spec.(*ast.ValueSpec)
			name, value := spec.Names[0].Name, spec.Values[0].(*ast.BasicLit).Value
			if value != `"`+name+`"` {
				t.Errorf("constant %s = %s, want its own name", name, value)
			}
			want = append(want, strings.TrimSuffix(gen.Doc.Text(), ".\n")+": "+name)
		}
	}
	var got []string
	for _, e := range Catalog() {
		got = append(got, e.Group+": "+e.Code)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("catalog groups differ from code.go (-code.go +catalog):\n%s", diff)
	}
}

func TestCatalogEntries(t *testing.T) {
	found := must.Get(files.ReadDir("catalog"))(t)
	for _, f := range found {
		if code := strings.TrimSuffix(f.Name(), ".md"); code != "index.txt" && !slices.Contains(Catalog().Codes(), code) {
			t.Errorf("catalog/%s has no code", f.Name())
		}
	}
	for _, e := range Catalog() {
		code := e.Code
		var headings []string
		fenced := false
		for line := range strings.Lines(e.Text) {
			if strings.HasPrefix(line, "```") {
				fenced = !fenced
			} else if strings.HasPrefix(line, "#") && !fenced {
				headings = append(headings, strings.TrimSpace(line))
			}
			if len(line) > 121 {
				t.Errorf("%s: line is longer than 120 bytes: %s", code, line)
			}
		}
		if diff := cmp.Diff([]string{"## Wrong", "## Right"}, headings); diff != "" {
			t.Errorf("%s: headings (-want +got):\n%s", code, diff)
		}
		if paragraphs := strings.Split(e.Text, "\n\n"); len(paragraphs) < 2 || !oneSentence(paragraphs[0]) {
			t.Errorf("%s: first paragraph is not a single sentence", code)
		}
		if fenced {
			t.Errorf("%s: code block is not closed", code)
		}
	}
}

func oneSentence(paragraph string) bool {
	return strings.HasSuffix(paragraph, ".") && !strings.Contains(paragraph, ". ") && !strings.HasPrefix(paragraph, "#")
}
