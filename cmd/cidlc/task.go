package main

import (
	"context"
	"crypto/sha256"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/lumi-idl/lumi/gen"
	"github.com/lumi-idl/lumi/gen/record"
	"github.com/lumi-idl/lumi/idl/schema"
)

// task is one output on its way to disk.
type task struct {
	root string
	plan *gen.Update
	// current says that a record shows the output to be as it should be. Then there is no plan, and nothing to do.
	current   bool
	unchanged int // how many files there are then

	// The rest is for the record that is made when the output has been written. An empty key is for none.
	records record.Store
	key     string
	input   record.Digest
	state   record.Digests
	files   []gen.File
}

// recorded begins a task, and finds out whether a record makes the rest unnecessary. With --check, records do not
// count: it is there to be sure.
func (c *compiler) recorded(pkg *schema.Package, language, root, importPath string) *task {
	t := &task{root: root, records: c.records}
	compiler, ok := self()
	absolute, err := resolve(root)
	if c.check || c.records.Dir == "" || !ok || err != nil {
		return t
	}
	model := pkg.Digest()
	t.key = language + "\x00" + absolute
	t.input = sha256.Sum256(slices.Concat(compiler[:], model[:], []byte(language+"\x00"+importPath)))
	t.state = record.Look(root)
	t.unchanged, t.current = c.records.Current(t.key, t.input, t.state)
	return t
}

// forget keeps the task from being recorded.
func (t *task) forget() { t.key = "" }

func (t *task) compare(files []gen.File) (err error) {
	t.files = files
	t.plan, err = gen.Compare(t.root, files)
	return err
}

// write brings all outputs to disk, or none, and records them.
func write(ctx context.Context, tasks []*task) (gen.Result, error) {
	var plans []*gen.Update
	unchanged := 0
	for _, t := range tasks {
		if t.current {
			unchanged += t.unchanged
		} else {
			plans = append(plans, t.plan)
		}
	}
	result, err := gen.Write(ctx, plans...)
	if err != nil {
		return result, err
	}
	result.Unchanged += unchanged
	for _, t := range tasks {
		t.remember()
	}
	return result, nil
}

// remember records that the output is current.
func (t *task) remember() {
	if t.current || t.key == "" || t.state == nil {
		return
	}
	wrote := make(map[string]bool)
	for _, change := range t.plan.Changes() {
		rel, err := filepath.Rel(t.root, change.Path)
		if err != nil {
			return
		}
		if name := filepath.ToSlash(rel); change.Remove {
			t.state.Remove(name)
		} else {
			wrote[name] = true
		}
	}
	generated := 0
	for _, f := range t.files {
		if !f.Scaffold {
			generated++
		}
		if !f.Scaffold || wrote[f.Path] {
			t.state.Put(f.Path, f.Content)
		}
	}
	t.records.Remember(t.key, t.input, t.state, generated)
}

// recordStore is where records are kept: in the user's cache folder, or nowhere if there is none.
func recordStore() record.Store {
	dir, err := os.UserCacheDir()
	if err != nil {
		return record.Store{}
	}
	return record.Store{Dir: filepath.Join(dir, "cidlc")}
}

// self returns the digest of this program. Another build of the compiler may generate something else.
var self = sync.OnceValues(func() (digest [sha256.Size]byte, ok bool) {
	name, err := os.Executable()
	if err != nil {
		return digest, false
	}
	f, err := os.Open(name)
	if err != nil {
		return digest, false
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return digest, false
	}
	return [sha256.Size]byte(h.Sum(nil)), true
})
