package gostubs_test

import (
	"bytes"
	"go/ast"
	"go/constant"
	"go/format"
	"go/parser"
	"go/token"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lumi-idl/lumi/gen"
	"github.com/lumi-idl/lumi/gen/gostubs"
	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// TestToolchain runs Go tools on the stubs of the hostile package and of the corpus. The stubs of the test provider are
// part of this repository, so they are checked with its code.
func TestToolchain(t *testing.T) {
	var files []gen.File
	for _, pkg := range []*schema.Package{hostile(), corpus(2)} {
		made := must.Get(gen.Rendered(gostubs.Generate(pkg, gostubs.Options{ImportPath: modulePath})))(t)
		files = append(files, made...)
	}
	dir := t.TempDir()
	writeModule(t, dir, files)
	runGo(t, dir, "go", "vet", "./...")
	runGo(t, dir, "gofmt", "-l", ".")
}

func TestStubFiles(t *testing.T) {
	files := must.Get(gen.Rendered(gostubs.Generate(hostile(), gostubs.Options{ImportPath: modulePath})))(t)
	seen := map[string]string{}
	for _, f := range files {
		seen[f.Path] = string(f.Content)
		source := strings.TrimSuffix(f.Path, "_stub.go") + ".go"
		if f.Path == "lumischema/lumischema.go" {
			source = "**/*.go"
		}
		if !bytes.HasPrefix(f.Content, []byte(gen.Header(gen.Slashes, source)+"\n\n")) {
			t.Errorf("%s does not start with the generated header", f.Path)
		}
		formatted, err := format.Source(f.Content)
		if err != nil || !bytes.Equal(formatted, f.Content) {
			t.Errorf("%s is not gofmted (error %v)", f.Path, err)
		}
		if f.Scaffold {
			t.Errorf("%s: Scaffold = true, want false", f.Path)
		}
	}
	nothing := seen["main-part/nothing_stub.go"]
	if want := gen.Header(gen.Slashes, "main-part/nothing.go") + "\n\npackage mainpart\n"; nothing != want {
		t.Errorf("stub without declarations = %q, want %q", nothing, want)
	}
}

func TestSchema(t *testing.T) {
	pkg := hostile()
	files := must.Get(gen.Rendered(gostubs.Generate(pkg, gostubs.Options{ImportPath: modulePath})))(t)
	source := files[len(files)-1]
	parsed := must.Get(parser.ParseFile(token.NewFileSet(), source.Path, source.Content, parser.SkipObjectResolution))(t)
	literal := parsed.Decls[0].(*ast.GenDecl).Specs[0].(*ast.ValueSpec).Values[0].(*ast.BasicLit).Value
	text := constant.StringVal(constant.MakeFromLiteral(literal, token.STRING, 0))
	reread := func(text string) string {
		return string(must.Get(schema.Compact(must.Get(schema.Read(strings.NewReader(text)))(t)))(t))
	}
	want := reread(string(must.Get(schema.Compact(pkg))(t)))
	if diff := cmp.Diff(want, reread(text)); diff != "" {
		t.Errorf("%s differs from the model (-want +got):\n%s", source.Path, diff)
	}
}

func TestStubImports(t *testing.T) {
	a := &schema.Struct{Header: schema.Header{Name: "A"}}
	r := &schema.Resource{Header: schema.Header{Name: "R"}, Token: "x:b:R", Named: true, Properties: []*schema.Property{
		required("A", &schema.Ref{Decl: a}),
	}}
	pkg := &schema.Package{Name: "x", Modules: []*schema.Module{
		{Path: "a", GoName: "a", Files: []*schema.File{{Name: "a.go", Decls: []schema.Decl{a}}}},
		{Path: "b", GoName: "b", Files: []*schema.File{{Name: "b.go", Decls: []schema.Decl{r}}}},
	}}
	pkg.Link()
	files := must.Get(gen.Rendered(gostubs.Generate(pkg, gostubs.Options{ImportPath: "acme.example/x"})))(t)
	want := `import (
	"context"

	"acme.example/x/a"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
)
`
	if !strings.Contains(string(files[1].Content), want) {
		t.Errorf("stub does not import in two groups:\n%s", files[1].Content)
	}
}

func TestStubLength(t *testing.T) {
	pkg := corpus(1)
	file := pkg.Modules[0].Files[0]
	r := file.Decls[len(file.Decls)-1].(*schema.Resource)
	r.Properties = r.Properties[:10]
	file.Decls = []schema.Decl{r}
	files := must.Get(gen.Rendered(gostubs.Generate(pkg, gostubs.Options{})))(t)
	lines := 0
	for line := range bytes.Lines(files[0].Content) {
		if !bytes.HasPrefix(bytes.TrimSpace(line), []byte("//")) {
			lines++
		}
	}
	if lines >= 80 {
		t.Errorf("stub has %d lines, want fewer than 80", lines)
	}
}

func TestGenerateDeterministic(t *testing.T) {
	var first []gen.File
	for range 3 {
		files := must.Get(gen.Rendered(gostubs.Generate(corpus(120), gostubs.Options{ImportPath: modulePath})))(t)
		if first == nil {
			first = files
		}
		for i, f := range files {
			if f.Path != first[i].Path || !bytes.Equal(f.Content, first[i].Content) {
				t.Fatalf("Generate returned a different %s on another run", f.Path)
			}
		}
	}
}

// A stub cannot use another module's alias of an unexported type.
func TestUnexportedAliasTarget(t *testing.T) {
	hidden := &schema.Struct{Header: schema.Header{Name: "hidden"}}
	alias := &schema.Alias{Header: schema.Header{Name: "Hidden"}, Target: &schema.List{Elem: &schema.Ref{Decl: hidden}}}
	user := &schema.Struct{Header: schema.Header{Name: "User"}, Properties: []*schema.Property{
		required("H", &schema.Ref{Decl: alias}),
	}}
	pkg := &schema.Package{Name: "x", Modules: []*schema.Module{
		{Path: "a", GoName: "a", Files: []*schema.File{{Name: "a.go", Decls: []schema.Decl{hidden, alias}}}},
		{Path: "b", GoName: "b", Files: []*schema.File{{Name: "b.go", Decls: []schema.Decl{user}}}},
	}}
	pkg.Link()
	_, err := gen.Rendered(gostubs.Generate(pkg, gostubs.Options{ImportPath: modulePath}))
	want := path.Join("b", "b.go") + ": the type hidden of module a is not exported, so Go code here cannot name it"
	if err == nil || err.Error() != want {
		t.Errorf("Rendered error = %v, want %q", err, want)
	}
}
