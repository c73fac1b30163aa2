package main

import (
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
	*target
	place    string
	update   *gen.Update
	recorded bool // a record shows the output to be as it should be, so that there is nothing to do
	// remember records that the output is current.
	remember func()
}

// prepare renders an output and compares it with what exists, unless a record makes that unnecessary.
func (c *compiler) prepare(pkg *schema.Package, out *target) (*task, error) {
	t := &task{target: out, place: out.place(c.idl), remember: func() {}}
	var path string
	var err error
	if out.imports {
		if path, err = importPath(t.flag, t.place); err != nil {
			return nil, err
		}
	}
	if c.lookUp(pkg, t, path); t.recorded {
		return t, nil
	}
	files, warnings, err := out.generate(pkg, t.place, path)
	if err != nil {
		return nil, err
	}
	if c.warnings = append(c.warnings, warnings...); len(warnings) > 0 {
		t.remember = func() {} // A run that skips rendering could not repeat the warning.
	}
	t.update, err = out.compare(c.idl, files)
	return t, err
}

// lookUp finds out whether a record shows the output to be current. With --check, records do not count: it is there to be
// sure.
func (c *compiler) lookUp(pkg *schema.Package, t *task, importPath string) {
	compiler, ok := self()
	absolute, err := resolve(t.place)
	if c.check || t.folder == "" || c.records.Dir == "" || !ok || err != nil {
		return
	}
	model := pkg.Digest()
	key := t.flag + "\x00" + absolute
	input := sha256.Sum256(slices.Concat(compiler[:], model[:], []byte(t.flag+"\x00"+importPath)))
	state := record.Look(t.place)
	files, ok := c.records.Current(key, input, state)
	if t.recorded = ok; ok {
		t.update = gen.Unchanged(files)
		return
	}
	t.remember = func() {
		state.Apply(t.update.Changes())
		counts := t.update.Counts()
		c.records.Remember(key, input, state, counts.Written+counts.Unchanged)
	}
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
