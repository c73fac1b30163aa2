package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lumi-idl/lumi/test/kit/must"
	"github.com/lumi-idl/lumi/test/kit/node"
)

// golden is the folder of test cases. Each case contains a small IDL package in idl/ and its expected output: pack/,
// provider/, and schema.json if the package is valid; otherwise, diagnostics.txt and diagnostics.json.
const golden = "testdata/golden"

func TestGolden(t *testing.T) {
	for _, name := range cases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(golden, name)
			idl := filepath.Join(dir, "idl")
			if strings.HasPrefix(name, "wrong") {
				text := compile(t, checkout, nil, idl)
				machine := compile(t, checkout, nil, idl, "--diagnostics=json", "-q")
				if text.code != 1 || machine.code != 1 {
					t.Errorf("exit codes = %d with text output and %d with JSON, want 1", text.code, machine.code)
				}
				compareFile(t, filepath.Join(dir, "diagnostics.txt"), text.stderr)
				compareFile(t, filepath.Join(dir, "diagnostics.json"), machine.stdout)
				return
			}
			args := []string{idl, "--out-pack", "--out-provider", "--out-schema=" + filepath.Join(dir, "schema.json"), "-q"}
			if *update {
				regenerate(t, dir, args)
			}
			if got := compile(t, checkout, nil, append(args, "--check")...); got.code != 0 {
				t.Errorf("output is out of date; run 'make golden' and review the diff\n%s%s", got.stdout, got.stderr)
			}
		})
	}
}

// regenerate replaces all output, including scaffolds, which the compiler does not overwrite.
func regenerate(t *testing.T, dir string, args []string) {
	t.Helper()
	for _, out := range []string{"pack", "provider"} {
		must.Do(t, os.RemoveAll(filepath.Join(checkout, dir, out)))
	}
	if got := compile(t, checkout, nil, args...); got.code != 0 {
		t.Fatalf("exit code = %d, want 0\n%s%s", got.code, got.stdout, got.stderr)
	}
}

func compareFile(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join(checkout, name)
	if *update {
		must.Do(t, os.WriteFile(path, []byte(got), 0o644))
		return
	}
	want := must.Get(os.ReadFile(path))(t)
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s is out of date; run 'make golden' and review the diff (-file +now):\n%s", name, diff)
	}
}

// cases returns the names of the test cases.
func cases(t *testing.T) []string {
	t.Helper()
	entries := must.Get(os.ReadDir(filepath.Join(checkout, golden)))(t)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestGeneratedGo(t *testing.T) {
	run(t, "go", "build", "./"+golden+"/...")
	run(t, "go", "vet", "./"+golden+"/...")
	run(t, "gofmt", "-l", golden, "examples")
}

func TestGeneratedTypeScript(t *testing.T) {
	var files []string
	// The test of examples/peering checks its package, which imports the package aws.
	for _, pattern := range []string{golden + "/*/pack", "examples/aws/pack", "examples/local/pack"} {
		packs, err := filepath.Glob(filepath.Join(checkout, pattern))
		if err != nil || len(packs) == 0 {
			t.Fatalf("Glob(%s) = %v, %v, want at least one package", pattern, packs, err)
		}
		for _, pack := range packs {
			files = append(files, modulesOf(t, pack)...)
		}
	}
	node.TypeCheck(t, checkout, files)
}

// modulesOf returns the TypeScript files in a directory tree, except dependencies and build output.
func modulesOf(t *testing.T, dir string) []string {
	t.Helper()
	var files []string
	must.Do(t, filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.IsDir() && slices.Contains([]string{"node_modules", "dist"}, entry.Name()) {
			return filepath.SkipDir
		}
		if err == nil && !entry.IsDir() && strings.HasSuffix(path, ".ts") && !strings.HasSuffix(path, ".d.ts") {
			files = append(files, path)
		}
		return err
	}))
	return files
}
