package gostubs_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/lumi-idl/lumi/gen"
	"github.com/lumi-idl/lumi/gen/gostubs"
	"github.com/lumi-idl/lumi/idl/schema"
)

func BenchmarkGenerate(b *testing.B) {
	for _, n := range []int{100, 1000} {
		pkg := corpus(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := gen.Rendered(gostubs.Generate(pkg, gostubs.Options{ImportPath: "example.com/corpus"})); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkBuild compiles the stubs of 1,000 resources into a program that registers all of them. The stubs are never
// in the build cache. It reports the build time and the size of the program.
func BenchmarkBuild(b *testing.B) {
	pkg := corpus(1000)
	files, err := gen.Rendered(gostubs.Generate(pkg, gostubs.Options{ImportPath: modulePath}))
	if err != nil {
		b.Fatal(err)
	}
	files = append(files, corpusImplementations(pkg)...)
	dir := b.TempDir()
	writeModule(b, dir, files)
	build := func(args ...string) {
		cmd := exec.Command("go", append([]string{"build"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("go build: %v\n%s", err, out)
		}
	}
	build("github.com/lumi-idl/lumi/runtime", "github.com/lumi-idl/lumi/runtime/urn")
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		// A unique constant makes every package new to the build cache.
		for _, m := range pkg.Modules {
			stamp := fmt.Sprintf("package %s\n\nconst built = %q\n", m.GoName, fmt.Sprint(time.Now().UnixNano()))
			write(b, filepath.Join(dir, m.Path, "stamp.go"), []byte(stamp))
		}
		b.StartTimer()
		build("-o", "corpus", ".")
	}
	info, err := os.Stat(filepath.Join(dir, "corpus"))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(info.Size())/1e6, "MB")
}

// corpusImplementations returns an implementation of every resource, and a program that registers all of them.
func corpusImplementations(pkg *schema.Package) []gen.File {
	var files []gen.File
	var imports, uses bytes.Buffer
	for _, m := range pkg.Modules {
		var impl bytes.Buffer
		fmt.Fprintf(&impl, "package %s\n\nimport (\n\"context\"\n\nlumi %q\n)\n", m.GoName, runtimePath)
		fmt.Fprintf(&imports, "%q\n", modulePath+"/"+m.Path)
		for _, f := range m.Files {
			for _, d := range f.Decls {
				if r, ok := d.(*schema.Resource); ok {
					fmt.Fprintf(&impl, operations, r.Name, schema.GoMarshalName(&r.Header))
					fmt.Fprintf(&uses, "%[1]s.%[2]s: %[1]s.New%[2]sProvider(%[1]s.%[2]sOps{}),\n", m.GoName, r.Name)
				}
			}
		}
		files = append(files, gen.File{Path: m.Path + "/ops.go", Content: impl.Bytes()})
	}
	main := fmt.Sprintf(program, imports.String(), runtimePath, runtimePath+"/tokens", uses.String())
	return append(files, gen.File{Path: "main.go", Content: []byte(main)})
}

const operations = `
type %[1]sOps struct{}

func (%[1]sOps) Check(context.Context, *lumi.State[*%[2]s]) error { return nil }
func (%[1]sOps) Create(context.Context, *lumi.State[*%[2]s]) (lumi.ID, error) { return "x", nil }
func (%[1]sOps) Get(context.Context, lumi.ID, *lumi.State[*%[2]s]) (*%[2]s, error) { return nil, lumi.ErrNotFound }
func (%[1]sOps) Update(context.Context, *lumi.State[*%[2]s], *lumi.State[*%[2]s], *lumi.Diff) error { return nil }
func (%[1]sOps) Delete(context.Context, *lumi.State[*%[2]s]) error { return nil }
`

const program = `package main

import (
	"context"
	"fmt"
	"os"

%s
	lumi %q
	%q
)

var providers = map[tokens.Type]lumi.ResourceProvider{
%s}

func main() {
	for token, p := range providers {
		ctx := context.Background()
		_, err := p.Check(ctx, &lumi.CheckRequest{})
		_, err2 := p.Create(ctx, &lumi.CreateRequest{})
		_, err3 := p.Get(ctx, &lumi.GetRequest{})
		_, err4 := p.InspectChange(ctx, &lumi.InspectChangeRequest{})
		_, err5 := p.Update(ctx, &lumi.UpdateRequest{})
		_, err6 := p.Delete(ctx, &lumi.DeleteRequest{})
		_, err7 := p.Name(ctx, &lumi.NameRequest{})
		fmt.Fprintln(os.Stdout, token, err, err2, err3, err4, err5, err6, err7)
	}
}
`
