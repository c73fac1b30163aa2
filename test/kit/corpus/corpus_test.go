package corpus_test

import (
	"go/format"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lumi-idl/lumi/idl/compile"
	"github.com/lumi-idl/lumi/test/kit/corpus"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// read writes a corpus to a temporary folder. It returns the folder and the contents of all files, by path.
func read(t *testing.T, o corpus.Options) (dir string, files map[string]string) {
	t.Helper()
	dir = t.TempDir()
	must.Do(t, corpus.Write(dir, o))
	files = map[string]string{}
	must.Do(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(rel)] = string(data)
		return err
	}))
	return dir, files
}

func TestCorpusIsValidGo(t *testing.T) {
	dir, files := read(t, corpus.Options{Resources: 120})
	for path, source := range files {
		if !strings.HasSuffix(path, ".go") {
			continue
		}
		formatted, err := format.Source([]byte(source))
		if err != nil {
			t.Fatalf("formatting %s: %v", path, err)
		}
		if diff := cmp.Diff(string(formatted), source); diff != "" {
			t.Errorf("%s is not formatted (-gofmt +got):\n%s", path, diff)
		}
	}
	cmd := exec.Command("go", "vet", "./...")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=readonly")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("go vet: %v\n%s", err, out)
	}
}

func TestCorpusCompiles(t *testing.T) {
	for seed := range uint64(4) {
		dir, _ := read(t, corpus.Options{Resources: 60, Seed: seed})
		_, diags, err := compile.Load(t.Context(), compile.Options{Dir: filepath.Join(dir, filepath.FromSlash(corpus.IDL))})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range diags {
			t.Errorf("seed %d: %s:%d: %s", seed, d.Span.Start.File, d.Span.Start.Line, d.Message)
		}
	}
}

func TestCorpusIsDeterministic(t *testing.T) {
	_, one := read(t, corpus.Options{Resources: 60})
	_, two := read(t, corpus.Options{Resources: 60})
	expect.Equal(t, one, two, "corpora with identical options")
	_, other := read(t, corpus.Options{Resources: 60, Seed: 1})
	if cmp.Equal(one, other) {
		t.Error("corpora with different seeds are equal")
	}
}

func TestCorpusSize(t *testing.T) {
	const resources = 200
	_, files := read(t, corpus.Options{Resources: resources})
	count, properties, folders := 0, 0, map[string]bool{}
	for path, source := range files {
		if filepath.Base(path) == "common.go" || strings.Count(path, "/") < 3 {
			continue
		}
		count++
		folders[filepath.Dir(path)] = true
		_, body, _ := strings.Cut(source, " struct {\n")
		body, _, _ = strings.Cut(body, "\n}\n")
		properties += strings.Count(body, "\t// ")
	}
	if count != resources || len(folders) != resources/corpus.FolderSize {
		t.Errorf("corpus has %d resources in %d folders, want %d in %d", count, len(folders), resources,
			resources/corpus.FolderSize)
	}
	// The count excludes names and embedded properties.
	if mean := float64(properties) / float64(count); mean < 11.5 || mean > 12.5 {
		t.Errorf("corpus has %.1f properties per resource, want about 12", mean)
	}
}
