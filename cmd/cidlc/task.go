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
	place  string
	update *gen.Update
	record *record.Record
}

// prepare has an output generated and compares it with what exists. Files that the record shows to be current are not
// rendered, and those that are missing not yet.
func (c *compiler) prepare(pkg *schema.Package, out *target, digests schema.Digests) (*task, error) {
	t := &task{target: out, place: out.place(c.idl)}
	var path string
	var err error
	if out.imports {
		if path, err = importPath(t.flag, t.place); err != nil {
			return nil, err
		}
	}
	t.record = c.openRecord(t, path)
	files, warnings, err := out.generate(pkg, t.place, path, digests)
	if err != nil {
		return nil, err
	}
	c.warnings = append(c.warnings, warnings...)
	t.record.Watch(files)
	t.update, err = out.compare(c.idl, files)
	return t, err
}

// openRecord opens the record of an output.
func (c *compiler) openRecord(t *task, importPath string) *record.Record {
	compiler, ok := self()
	absolute, err := resolve(t.place)
	store := c.records
	if !ok || err != nil {
		store = record.Store{}
	}
	input := sha256.Sum256(slices.Concat(compiler[:], []byte(t.flag+"\x00"+importPath)))
	return store.Open(t.flag+"\x00"+absolute, input)
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
