package gostubs_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/gen"
	// Stubs are compiled offline. Importing their dependencies here keeps these in the module cache.
	_ "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/test/kit/must"
)

const (
	modulePath  = "example.com/stubs"
	runtimePath = "github.com/lumi-idl/lumi/runtime"
)

// writeModule writes files to dir as a new module that uses the runtime of this checkout.
func writeModule(tb testing.TB, dir string, files []gen.File) {
	tb.Helper()
	root := must.Get(filepath.Abs("../.."))(tb)
	goMod := must.Get(os.ReadFile(filepath.Join(root, "go.mod")))(tb)
	goSum := must.Get(os.ReadFile(filepath.Join(root, "go.sum")))(tb)
	_, requirements, _ := strings.Cut(string(goMod), "\n")
	own := fmt.Sprintf("module %s\n%s\nrequire github.com/lumi-idl/lumi v0.0.0\n\nreplace github.com/lumi-idl/lumi => %s\n",
		modulePath, requirements, root)
	write(tb, filepath.Join(dir, "go.mod"), []byte(own))
	write(tb, filepath.Join(dir, "go.sum"), goSum)
	for _, f := range files {
		write(tb, filepath.Join(dir, filepath.FromSlash(f.Path)), f.Content)
	}
}

func write(tb testing.TB, file string, content []byte) {
	tb.Helper()
	must.Do(tb, os.MkdirAll(filepath.Dir(file), 0o755))
	must.Do(tb, os.WriteFile(file, content, 0o644))
}

// runGo runs a Go tool in dir. The tool must succeed without output.
func runGo(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}
