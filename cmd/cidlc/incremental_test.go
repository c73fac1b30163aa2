package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lumi-idl/lumi/gen"
	"github.com/lumi-idl/lumi/gen/record"
	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/test/kit/must"
)

const defaultSteps = 300

var (
	steps = flag.Int("incremental.steps", defaultSteps, "how many random changes TestIncremental makes")
	seed  = flag.Uint64("incremental.seed", 1, "what TestIncremental chooses its changes by")
)

// TestIncremental randomly changes the model, flags, compiler, output folders, or record. It then compares an
// incremental run with a run into empty folders without a record: either both must fail, or they must produce the same
// output. The model is changed in memory, since loading keeps no state between runs.
func TestIncremental(t *testing.T) {
	w := newWorkshop(t)
	w.step("no change", nil)
	if w.rendered == 0 {
		t.Error("the first run rendered no files, want all")
	}
	w.step("no change", nil)
	if w.rendered != 0 {
		t.Errorf("a run without changes rendered %d files, want 0", w.rendered)
	}
	rendered, files, failed := 0, 0, 0
	deadline := time.Now().Add(5 * time.Second) // for slow machines
	for n := range *steps {
		if *steps == defaultSteps && time.Now().After(deadline) {
			t.Logf("stopped after %d steps", n)
			break
		}
		name := w.IntN(len(changes))
		if !w.step(changes[name].name, changes[name].do) {
			failed++
		}
		rendered, files = rendered+w.rendered, files+w.all
		if t.Failed() {
			t.Fatalf("step %d of seed %d: %s", n, *seed, strings.Join(w.log[max(0, len(w.log)-5):], ", "))
		}
	}
	t.Logf("rendered %d of %d files; %d runs failed as expected", rendered, files, failed)
	if rendered*2 > files {
		t.Errorf("rendered %d of %d files, want at most half", rendered, files)
	}
}

// The compiler's output changes here without its digest.
func TestCheckIgnoresRecord(t *testing.T) {
	w := newWorkshop(t)
	self = func() ([sha256.Size]byte, bool) { return [sha256.Size]byte{}, true }
	w.put(w.at("warm", "go.mod"), "module "+w.module+"\n")
	if got := w.run("warm", w.at("cache"), false); got != "" {
		t.Fatalf("first run: error = %q, want none", got)
	}
	w.compiler++
	if got := w.run("warm", w.at("cache"), false); got != "" || w.rendered != 0 {
		t.Errorf("run with a stale record rendered %d files, error = %q, want neither", w.rendered, got)
	}
	if got := w.run("warm", w.at("cache"), true); got != console.ErrWrong.Error() {
		t.Errorf("--check: error = %q, want %q", got, console.ErrWrong)
	}
}

// workshop is an IDL with its outputs, in the state left by the last change.
type workshop struct {
	*testing.T
	*rand.Rand
	root     string
	pkg      *schema.Package
	module   string // the path of the Go module
	compiler int    // the version of the compiler
	names    int    // the number of names created so far
	log      []string
	old      map[string]string // earlier outputs by path

	rendered, all int // the number of files in the last run
}

func newWorkshop(t *testing.T) *workshop {
	isolate(t)
	model := must.Get(os.ReadFile("../../idl/schema/testdata/schema.json"))(t)
	w := &workshop{T: t, Rand: rand.New(rand.NewPCG(*seed, 0)), root: t.TempDir(), module: "example.com/shop"}
	w.read(model)
	actual := self
	t.Cleanup(func() { self = actual })
	self = func() ([sha256.Size]byte, bool) { return sha256.Sum256(fmt.Appendf(nil, "%d", w.compiler)), true }
	return w
}

func (w *workshop) read(model []byte) {
	w.pkg = must.Get(schema.Read(bytes.NewReader(model)))(w)
}

// step makes a change and compares an incremental run with a run from scratch. If both fail, it reverts the change and
// returns false.
func (w *workshop) step(name string, change func(*workshop)) bool {
	var model bytes.Buffer
	must.Do(w, schema.Write(&model, w.pkg))
	before := w.tree(w.at("warm"))
	if change != nil {
		change(w)
		w.pkg.Link()
		w.log = append(w.log, name)
	}
	for _, side := range []string{"warm", "cold"} {
		w.put(w.at(side, "go.mod"), "module "+w.module+"\n")
	}
	for name, content := range w.tree(w.at("warm")) { // files outside the outputs are the same on both sides
		if !isGenerated(content) {
			w.put(w.at("cold", name), content)
		}
	}
	want := w.run("cold", "", false)
	got := w.run("warm", w.at("cache"), false)
	// The order of rendering depends on existing files, so the two runs may return different errors.
	if (got == "") != (want == "") {
		w.Errorf("after %q, error of an incremental run = %q, want %q", name, got, want)
	}
	if want == "" {
		w.same(w.tree(w.at("warm")), w.tree(w.at("cold")))
		if w.IntN(10) == 0 {
			if got := w.run("warm", w.at("cache"), true); got != "" {
				w.Errorf("after %q, error with --check = %q, want none", name, got)
			}
		}
	} else {
		w.read(model.Bytes())
		w.restore(before)
	}
	must.Do(w, os.RemoveAll(w.at("cold")))
	return want == ""
}

// run writes the outputs to one side, "warm" or "cold". It returns the error message, or "" if the run succeeds.
func (w *workshop) run(side, cache string, check bool) string {
	var stderr bytes.Buffer
	opts := &options{idl: w.at("idl"), verbose: true, color: "never", check: check}
	for _, out := range outputs[:2] {
		versioned := *out
		versioned.generate = w.versioned(out.generate)
		opts.targets = append(opts.targets, &target{output: &versioned, asked: true, value: w.at(side, out.folder)})
	}
	c := newCompiler(opts, io.Discard, &stderr, noEnv)
	c.records = record.Store{Dir: cache}
	w.rendered, w.all = 0, 0
	if err := c.emit(w.Context(), w.pkg); err != nil {
		return strings.ReplaceAll(err.Error(), w.at(side), "")
	}
	for range w.pkg.Files() {
		w.all += 2
	}
	for line := range strings.Lines(stderr.String()) {
		n := 0
		if _, err := fmt.Sscanf(line, "cidlc: rendered %d ", &n); err == nil {
			w.rendered += n
		}
	}
	return ""
}

// versioned makes the output of generate depend on the compiler version.
func (w *workshop) versioned(
	generate func(*schema.Package, string, string, schema.Digests) ([]gen.File, []string, error),
) func(*schema.Package, string, string, schema.Digests) ([]gen.File, []string, error) {
	version := fmt.Sprintf("\n// version %d\n", w.compiler)
	return func(pkg *schema.Package, dir, path string, digests schema.Digests) ([]gen.File, []string, error) {
		files, warnings, err := generate(pkg, dir, path, digests)
		for i, f := range files {
			if f.Render != nil {
				files[i].Render = func() ([]byte, error) {
					content, err := f.Render()
					return append(content, version...), err
				}
			}
		}
		return files, warnings, err
	}
}

func isGenerated(content string) bool {
	line, _, _ := strings.Cut(content, "\n")
	return strings.HasPrefix(line, "// Code generated by cidlc from ") || strings.HasPrefix(line, "-> ")
}

func (w *workshop) at(parts ...string) string { return filepath.Join(w.root, filepath.Join(parts...)) }

func (w *workshop) put(name, content string) {
	must.Do(w, errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(content), 0o644)))
}

// tree returns the contents of all files below root. A symbolic link is shown as an arrow and its target.
func (w *workshop) tree(root string) map[string]string {
	files := map[string]string{}
	_ = filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(root, name)
		if to, err := os.Readlink(name); err == nil {
			files[rel] = "-> " + to
			return nil
		}
		content, err := os.ReadFile(name)
		files[rel] = string(content)
		return err
	})
	return files
}

// restore resets the outputs to a state returned by tree.
func (w *workshop) restore(files map[string]string) {
	must.Do(w, os.RemoveAll(w.at("warm")))
	for name, content := range files {
		w.put(w.at("warm", name), content)
	}
}

func (w *workshop) same(got, want map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] != want[name] {
			w.Errorf("content of %s =\n%s\nwant\n%s", name, got[name], want[name])
			return
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[name]; !ok {
			w.Errorf("the incremental run left the stale file %s", name)
		}
	}
}
