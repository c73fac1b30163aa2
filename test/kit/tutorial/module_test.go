package tutorial_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"github.com/lumi-idl/lumi/test/kit/must"
	"github.com/lumi-idl/lumi/test/kit/node"
	"github.com/lumi-idl/lumi/test/kit/tutorial"
)

// The instructions for a new module in docs/command.md and 'cidlc --help' work in an empty folder. A module proxy serves
// this checkout as if it were published.
func TestModule(t *testing.T) {
	t.Parallel()
	checkout := must.Get(filepath.Abs("../../.."))(t)
	page := must.Get(os.ReadFile(filepath.Join(checkout, "docs", "command.md")))(t)
	documented := must.Get(tutorial.Steps(string(page), "Set up a module"))(t)
	env := published(t, checkout)
	for name, steps := range map[string][]tutorial.Step{
		"docs/command.md": documented,
		"cidlc --help":    helpSteps(node.Run(t, checkout, "go", "run", "./cmd/cidlc", "--help")),
	} {
		if len(steps) < 3 {
			t.Errorf("%s has %d steps, want at least 3", name, len(steps))
		}
		r := &tutorial.Reader{Page: name, Dir: t.TempDir(), Env: env}
		r.Do(t, steps...)
		for file, want := range map[string]string{
			"pack/bucket.ts":          "class Bucket ",
			"provider/bucket_stub.go": "type BucketProviderOps ",
		} {
			content, err := os.ReadFile(filepath.Join(r.Dir, filepath.FromSlash(file)))
			if err != nil || !strings.Contains(string(content), want) {
				t.Errorf("%s: %s does not contain %q, error %v", name, file, want, err)
			}
		}
	}
}

// helpSteps parses the example in a help text. Code blocks are indented by four spaces. A block that starts with a package
// clause is a Go file; all others are shell commands.
func helpSteps(help string) []tutorial.Step {
	_, example, _ := strings.Cut(help, "\nExample:\n")
	var steps []tutorial.Step
	inBlock := false
	for i, line := range strings.Split(example, "\n") {
		text, indented := strings.CutPrefix(line, "    ")
		switch {
		case line == "" && inBlock && steps[len(steps)-1].Kind == tutorial.WriteFile:
			steps[len(steps)-1].Text += "\n"
		case !indented:
			inBlock = false
		case !inBlock:
			step := tutorial.Step{Line: i, Kind: tutorial.RunCommands, Text: text + "\n"}
			if strings.HasPrefix(text, "package ") {
				step.Kind, step.File = tutorial.WriteFile, "idl/bucket.go"
			}
			steps, inBlock = append(steps, step), true
		default:
			steps[len(steps)-1].Text += text + "\n"
		}
	}
	return steps
}

// published returns environment variables for the go command under which this checkout is the latest release of Lumi. The
// module cache is empty; other modules come from the current module cache or, if missing there, from the network.
func published(t *testing.T, checkout string) []string {
	t.Helper()
	lumi := module.Version{Path: "github.com/lumi-idl/lumi", Version: "v0.1.0"}
	proxy := t.TempDir()
	dir := filepath.Join(proxy, filepath.FromSlash(lumi.Path), "@v")
	must.Do(t, os.MkdirAll(dir, 0o755))
	release := filepath.Join(dir, lumi.Version)
	archive := must.Get(os.Create(release + ".zip"))(t)
	mod, err1 := os.ReadFile(filepath.Join(checkout, "go.mod"))
	must.Do(t, errors.Join(
		err1,
		zip.Create(archive, lumi, sources(t, checkout)),
		archive.Close(),
		os.WriteFile(release+".mod", mod, 0o644),
		os.WriteFile(release+".info", []byte(`{"Version": "`+lumi.Version+`"}`), 0o644),
		os.WriteFile(filepath.Join(dir, "list"), []byte(lumi.Version+"\n"), 0o644),
	))
	values := strings.Split(node.Run(t, checkout, "go", "env", "GOMODCACHE", "GOPROXY"), "\n")
	return append(os.Environ(),
		"GOPROXY=file://"+filepath.ToSlash(proxy)+",file://"+filepath.ToSlash(values[0])+"/cache/download,"+values[1],
		// The checksum database does not contain the release. Other modules are verified by the checkout's go.sum.
		"GONOSUMDB=*", "GOWORK=off", "GOMODCACHE="+t.TempDir(), "GOCACHE="+goCache(t), "XDG_CACHE_HOME="+t.TempDir(),
		// Without -trimpath, build cache entries would depend on the path of the module cache.
		"GOFLAGS=-modcacherw -trimpath")
}

// sources returns the files in a release, excluding dependencies and build output.
func sources(t *testing.T, checkout string) []zip.File {
	t.Helper()
	var files []zip.File
	must.Do(t, filepath.WalkDir(checkout, func(name string, e fs.DirEntry, err error) error {
		switch base := e.Name(); {
		case err != nil:
			return err
		case e.IsDir() && (base == "node_modules" || base == "dist" || base == "bin" || base == ".git"):
			return fs.SkipDir
		case !e.Type().IsRegular():
			return nil
		}
		rel, err := filepath.Rel(checkout, name)
		files = append(files, source{name, filepath.ToSlash(rel)})
		return err
	}))
	return files
}

// source implements [zip.File] for a file of the checkout. path is its path in the zip file.
type source struct{ name, path string }

func (s source) Path() string                 { return s.path }
func (s source) Lstat() (fs.FileInfo, error)  { return os.Lstat(s.name) }
func (s source) Open() (io.ReadCloser, error) { return os.Open(s.name) }
