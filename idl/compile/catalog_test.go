package compile_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/idl/compile"
	"github.com/lumi-idl/lumi/idl/diag"
)

func TestCatalog(t *testing.T) {
	for _, e := range diag.Catalog() {
		t.Run(e.Code, func(t *testing.T) {
			t.Parallel()
			wrong, right := examples(t, e.Text)
			if len(wrong) == 0 || len(right) == 0 {
				t.Fatalf("got %d wrong and %d right examples, want some of each", len(wrong), len(right))
			}
			for _, files := range wrong {
				diags := compileExample(t, files)
				if len(diags) == 0 {
					t.Errorf("Load of a wrong example returned no errors:\n%s", files)
				}
				for _, d := range diags {
					if string(d.Code) != e.Code {
						t.Errorf("Load of a wrong example reported:\n%s\nwant only %s:\n%s", format(d), e.Code, files)
					}
				}
			}
			for _, files := range right {
				for _, d := range compileExample(t, files) {
					t.Errorf("Load of a right example reported:\n%s\nwant no diagnostics:\n%s", format(d), files)
				}
			}
		})
	}
}

func compileExample(t *testing.T, files example) []diag.Diagnostic {
	t.Helper()
	dir := newModule(t, files.inside("idl"))
	_, diags, err := load(t, compile.Options{Dir: filepath.Join(dir, "idl")})
	if err != nil {
		t.Errorf("Load: %v\n%s", err, files)
	}
	return diags
}

func format(d diag.Diagnostic) string {
	var b strings.Builder
	if err := diag.Text(&b, []diag.Diagnostic{d}, diag.TextOptions{}); err != nil {
		return err.Error()
	}
	return b.String()
}

// example lists the files of an IDL.
type example []exampleFile

type exampleFile struct{ name, content string }

func (e example) inside(dir string) map[string]string {
	files := map[string]string{}
	for _, f := range e {
		files[dir+"/"+f.name] = f.content
	}
	return files
}

func (e example) String() string {
	var b strings.Builder
	for _, f := range e {
		b.WriteString("-- " + f.name + " --\n" + f.content)
	}
	return b.String()
}

// fences matches the code blocks of an entry. An info string may name a file.
var fences = regexp.MustCompile("(?s)(.*?)\n```go(?: (\\S+))?\n(.*?\n)```\n")

// examples extracts the examples from a catalog entry. Adjacent code blocks with file names form one example. Each
// block without a file name is an example of its own.
func examples(t *testing.T, entry string) (wrong, right []example) {
	t.Helper()
	_, rest, _ := strings.Cut(entry, "\n## Wrong\n")
	before, after, found := strings.Cut(rest, "\n## Right\n")
	if !found {
		t.Fatalf("the entry lacks the headings Wrong and Right:\n%s", entry)
	}
	return splitExamples(before), splitExamples(after)
}

func splitExamples(section string) []example {
	var list []example
	for _, m := range fences.FindAllStringSubmatch(section, -1) {
		text, file := strings.TrimSpace(m[1]), exampleFile{m[2], m[3]}
		switch {
		case file.name == "":
			list = append(list, example{{"idl.go", file.content}})
		case text != "" || len(list) == 0:
			list = append(list, example{file})
		default:
			last := &list[len(list)-1]
			*last = append(*last, file)
		}
	}
	return list
}
