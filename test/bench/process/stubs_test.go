//go:build unix

package process_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/test/kit/corpus"
)

// BenchmarkStubs builds a program that links the generated providers of 1,000 resources. The build cache contains only
// the stubs' dependencies.
func BenchmarkStubs(b *testing.B) {
	const resources = 1000
	cidlc := build(b, "cmd/cidlc")
	dir := write(b, resources)
	measure(b, compile(cidlc, dir, goCache(b)))
	writeMain(b, dir)
	var built costs
	var size int64
	for b.Loop() {
		cache, err := os.MkdirTemp(b.TempDir(), "cache")
		if err != nil {
			b.Fatal(err)
		}
		goBuild := func(args ...string) *exec.Cmd {
			cmd := exec.Command("go", append([]string{"build"}, args...)...)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "GOCACHE="+cache, "GOPROXY=off")
			return cmd
		}
		measure(b, goBuild(corpus.Lumi+"/runtime/..."))
		binary := filepath.Join(dir, "plugin")
		built = append(built, measure(b, goBuild("-o", binary, "./cloud/plugin")))
		info, err := os.Stat(binary)
		if err != nil {
			b.Fatal(err)
		}
		size = info.Size()
		if err := os.RemoveAll(cache); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(0, "ns/op") // would include setup
	b.ReportMetric(built.wall(), "build-wall-s")
	b.ReportMetric(built.cpu(), "build-cpu-s")
	b.ReportMetric(float64(size)/1e6, "binary-MB")
}

// newProvider matches provider constructors in generated stubs.
var newProvider = regexp.MustCompile(`(?m)^func (New\w+Provider)\(`)

// writeMain writes a program that references every provider, so that the linker does not discard any.
func writeMain(b *testing.B, dir string) {
	b.Helper()
	root := filepath.Join(dir, "cloud", "provider")
	folders, err := os.ReadDir(root)
	if err != nil {
		b.Fatal(err)
	}
	var imports, uses strings.Builder
	for _, folder := range folders {
		if !folder.IsDir() {
			continue
		}
		fmt.Fprintf(&imports, "\t%q\n", corpus.Module+"/cloud/provider/"+folder.Name())
		files, err := filepath.Glob(filepath.Join(root, folder.Name(), "*_stub.go"))
		if err != nil {
			b.Fatal(err)
		}
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				b.Fatal(err)
			}
			for _, match := range newProvider.FindAllSubmatch(source, -1) {
				fmt.Fprintf(&uses, "\tprovider(%s.%s(nil))\n", folder.Name(), match[1])
			}
		}
	}
	source := fmt.Sprintf("package main\n\nimport (\n\t\"fmt\"\n\n%s)\n\nfunc provider(p any) { fmt.Println(p) }\n\n"+
		"func main() {\n%s}\n", imports.String(), uses.String())
	main := filepath.Join(dir, "cloud", "plugin", "main.go")
	if err := os.MkdirAll(filepath.Dir(main), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(main, []byte(source), 0o644); err != nil {
		b.Fatal(err)
	}
}
