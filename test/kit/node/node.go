// Package node provides the npm package @lumi/lumi and the TypeScript compiler to tests, without network access.
package node

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/test/kit/must"
)

// modules returns the node_modules folder of the npm package, with its development dependencies.
func modules(t *testing.T, checkout string) string {
	t.Helper()
	dir := filepath.Join(checkout, "runtime", "typescript", "node_modules")
	if _, err := os.Stat(filepath.Join(dir, "typescript")); err != nil {
		t.Fatalf("TypeScript compiler not found: run 'npm ci' in %s", filepath.Dir(dir))
	}
	return dir
}

// Compile runs the TypeScript compiler in dir. The test fails if the compiler reports errors.
func Compile(t *testing.T, checkout, dir string, args ...string) {
	t.Helper()
	Run(t, dir, filepath.Join(modules(t, checkout), ".bin", "tsc"), args...)
}

// Package builds @lumi/lumi and returns a temporary copy of the package.
func Package(t *testing.T, checkout string) string {
	t.Helper()
	dir := t.TempDir()
	must.Do(t, os.CopyFS(dir, os.DirFS(built(t, checkout))))
	return dir
}

// built returns the folder of the built package @lumi/lumi. It caches the package in the user's cache folder by a hash of
// the sources.
func built(t *testing.T, checkout string) string {
	t.Helper()
	source := filepath.Join(checkout, "runtime", "typescript")
	all := filepath.Join(must.Get(os.UserCacheDir())(t), "lumi", "typescript")
	must.Do(t, os.MkdirAll(all, 0o700))
	fresh := must.Get(os.MkdirTemp(all, "build-"))(t)
	defer func() { _ = os.RemoveAll(fresh) }() // does not exist anymore if it was renamed
	must.Do(t, os.CopyFS(filepath.Join(fresh, "src"), os.DirFS(filepath.Join(source, "src"))))
	for _, name := range []string{"package.json", "tsconfig.json", "LICENSE"} {
		must.Do(t, os.WriteFile(filepath.Join(fresh, name), must.Get(os.ReadFile(filepath.Join(source, name)))(t), 0o644))
	}
	must.Do(t, os.Symlink(modules(t, checkout), filepath.Join(fresh, "node_modules")))
	sum := sha256.New()
	fmt.Fprintln(sum, checkout)
	must.Do(t, fs.WalkDir(os.DirFS(fresh), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(fresh, path))
		fmt.Fprintf(sum, "%s %d\n%s", path, len(data), data)
		return err
	}))
	dir := filepath.Join(all, hex.EncodeToString(sum.Sum(nil)[:8]))
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	Compile(t, checkout, fresh)
	if err := os.Rename(fresh, dir); err != nil && !errors.Is(err, fs.ErrExist) { // another test binary may have created dir concurrently
		t.Fatal(err)
	}
	return dir
}

// Programs compiles the programs of an example and their pack. It returns the folder of the compiled programs and the
// folder of @lumi/lumi.
func Programs(t *testing.T, checkout, example string) (programs, lumi string) {
	t.Helper()
	programs, lumi = Workspace(t, checkout, example)
	Compile(t, checkout, programs)
	return filepath.Join(programs, "bin", "programs"), lumi
}

// Workspace copies the programs of an example and their pack to a temporary folder, ready for 'lumi deploy'. It returns the
// folder with Lumi.yaml and the folder of @lumi/lumi.
func Workspace(t *testing.T, checkout, example string) (programs, lumi string) {
	t.Helper()
	dir := t.TempDir()
	lumi = Package(t, checkout)
	modules := filepath.Join(dir, "node_modules")
	must.Do(t,
		os.CopyFS(filepath.Join(dir, "pack"), os.DirFS(filepath.Join(checkout, "examples", example, "pack"))),
		os.CopyFS(filepath.Join(dir, "programs"), os.DirFS(filepath.Join(checkout, "examples", example, "programs"))),
		os.RemoveAll(filepath.Join(dir, "programs", ".lumi")), // state of a deployment in the checkout
		os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"type": "module"}`), 0o644),
		os.MkdirAll(filepath.Join(modules, "@lumi"), 0o755),
		os.MkdirAll(filepath.Join(modules, ".bin"), 0o755),
		os.Symlink(lumi, filepath.Join(modules, "@lumi", "lumi")),
		os.Symlink(filepath.Join(lumi, "node_modules", "tsx"), filepath.Join(modules, "tsx")),
		os.Symlink(filepath.Join(lumi, "dist", "bin", "lumi-program.js"), filepath.Join(modules, ".bin", "lumi-program")),
		os.Chmod(filepath.Join(lumi, "dist", "bin", "lumi-program.js"), 0o755), // as npm does when it links a command
	)
	return filepath.Join(dir, "programs"), lumi
}

// Run runs a command in dir and returns its standard output. The test fails immediately if the command fails.
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
