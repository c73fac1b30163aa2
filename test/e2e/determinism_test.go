package e2e

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lumi-idl/lumi/test/kit/must"
)

// The output depends only on the IDL, not on the working directory, the target platform, caches, the number of processors,
// or the order of directory entries.
func TestDeterminism(t *testing.T) {
	moved := t.TempDir()
	copyBackwards(t, moved, "go.mod", "idl", "examples/aws/idl")
	elsewhere := t.TempDir()
	tests := []struct {
		name string
		dir  string // the working directory
		idl  string
		env  []string
	}{
		{"at the root", checkout, "examples/aws/idl", nil},
		{"in the IDL's own folder", filepath.Join(checkout, "examples/aws/idl"), ".", nil},
		{"elsewhere", elsewhere, filepath.Join(checkout, "examples/aws/idl"), nil},
		{"for another host", checkout, "examples/aws/idl/", []string{"GOOS=windows", "GOARCH=arm64"}},
		{"with other caches", checkout, "./examples/aws/idl", []string{
			"GOPATH=" + filepath.Join(elsewhere, "gopath"), "GOCACHE=" + filepath.Join(elsewhere, "gocache"), "GOFLAGS=-modcacherw",
		}},
		{"with one processor", checkout, "examples/aws/idl", []string{"GOMAXPROCS=1"}},
		{"with many processors", checkout, "examples/aws/idl", []string{"GOMAXPROCS=16"}},
		{"with files made in another order", moved, "examples/aws/idl", nil},
	}
	var want map[string]string
	for _, test := range tests {
		out := t.TempDir()
		writeFile(t, filepath.Join(out, "go.mod"), "module example.com/out\n")
		pack, provider, model := filepath.Join(out, "pack"), filepath.Join(out, "provider"), filepath.Join(out, "schema.json")
		got := compile(t, test.dir, test.env,
			test.idl, "--package=aws", "--out-pack="+pack, "--out-provider="+provider, "--out-schema="+model, "-q")
		if got.code != 0 || got.stderr != "" {
			t.Errorf("%s: exit code = %d, want 0 without messages:\n%s", test.name, got.code, got.stderr)
			continue
		}
		files := readTree(t, out)
		if want == nil {
			want = files
		}
		if diff := cmp.Diff(want, files); diff != "" {
			t.Errorf("%s: output differs from %s (-first +now):\n%s", test.name, tests[0].name, diff)
		}
	}
	if len(want) < 50 {
		t.Errorf("cidlc wrote %d files, want at least 50", len(want))
	}
}

// copyBackwards copies files and folders from the checkout, creating the files in reverse order.
func copyBackwards(t *testing.T, to string, names ...string) {
	t.Helper()
	var files []string
	for _, name := range names {
		must.Do(t, filepath.WalkDir(filepath.Join(checkout, name), func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.Type().IsRegular() {
				files = append(files, path)
			}
			return err
		}))
	}
	slices.Reverse(files)
	for _, file := range files {
		rel := must.Get(filepath.Rel(checkout, file))(t)
		data := must.Get(os.ReadFile(file))(t)
		writeFile(t, filepath.Join(to, rel), string(data))
	}
}

func readTree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	must.Do(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		data, err := os.ReadFile(path)
		files[filepath.ToSlash(rel)] = string(data)
		return err
	}))
	return files
}

func writeFile(t *testing.T, name, content string) {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(name), 0o755))
	must.Do(t, os.WriteFile(name, []byte(content), 0o644))
}
