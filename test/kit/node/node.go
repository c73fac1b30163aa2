// Package node gives tests the npm package @lumi/lumi and the TypeScript compiler, without a network.
package node

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// modules are the developer tools that the npm package is built with.
func modules(t *testing.T, checkout string) string {
	t.Helper()
	dir := filepath.Join(checkout, "runtime", "typescript", "node_modules")
	if _, err := os.Stat(filepath.Join(dir, "typescript")); err != nil {
		t.Fatalf("the TypeScript compiler is missing: run 'npm ci' in %s", filepath.Dir(dir))
	}
	return dir
}

// Compile runs the TypeScript compiler in a folder, and fails the test if it finds anything wrong.
func Compile(t *testing.T, checkout, dir string, args ...string) {
	t.Helper()
	Run(t, dir, filepath.Join(modules(t, checkout), ".bin", "tsc"), args...)
}

// Package builds @lumi/lumi and returns its folder. It works on a copy, since other tests read the original.
func Package(t *testing.T, checkout string) string {
	t.Helper()
	source, dir := filepath.Join(checkout, "runtime", "typescript"), t.TempDir()
	for _, name := range []string{"package.json", "tsconfig.json", "LICENSE"} {
		data, err := os.ReadFile(filepath.Join(source, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(filepath.Join(dir, "src"), os.DirFS(filepath.Join(source, "src"))); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(modules(t, checkout), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	Compile(t, checkout, dir)
	return dir
}

// Programs compiles the programs of an example, and the pack that they use, with all checks that TypeScript has. It returns
// the folder that the programs are in now, and that of @lumi/lumi.
func Programs(t *testing.T, checkout, example string) (programs, lumi string) {
	t.Helper()
	programs, lumi = Workspace(t, checkout, example)
	Compile(t, checkout, programs)
	return filepath.Join(programs, "bin", "programs"), lumi
}

// Workspace copies the programs of an example, and the pack that they use, to where lumi can deploy them. It returns the folder
// with their Lumi.yaml, and that of @lumi/lumi.
func Workspace(t *testing.T, checkout, example string) (programs, lumi string) {
	t.Helper()
	dir := t.TempDir()
	lumi = Package(t, checkout)
	modules := filepath.Join(dir, "node_modules")
	for _, err := range []error{
		os.CopyFS(filepath.Join(dir, "pack"), os.DirFS(filepath.Join(checkout, "examples", example, "pack"))),
		os.CopyFS(filepath.Join(dir, "programs"), os.DirFS(filepath.Join(checkout, "examples", example, "programs"))),
		os.RemoveAll(filepath.Join(dir, "programs", ".lumi")), // of somebody who has deployed the example in the checkout
		os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"type": "module"}`), 0o644),
		os.MkdirAll(filepath.Join(modules, "@lumi"), 0o755),
		os.MkdirAll(filepath.Join(modules, ".bin"), 0o755),
		os.Symlink(lumi, filepath.Join(modules, "@lumi", "lumi")),
		os.Symlink(filepath.Join(lumi, "node_modules", "tsx"), filepath.Join(modules, "tsx")),
		os.Symlink(filepath.Join(lumi, "dist", "bin", "lumi-program.js"), filepath.Join(modules, ".bin", "lumi-program")),
		os.Chmod(filepath.Join(lumi, "dist", "bin", "lumi-program.js"), 0o755), // as npm does when it links it
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "programs"), lumi
}

// Golden compares a text with that in a file, or writes it there if update is set.
func Golden(t *testing.T, file, got string, update bool) {
	t.Helper()
	if update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s is not what comes out (-want +got):\n%s", file, diff)
	}
}

// Run runs a command in a folder and returns its standard output. If it fails, so does the test.
func Run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", cmd, err, out, &stderr)
	}
	return string(out)
}
