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

// task is an output in progress.
type task struct {
	*target
	place  string
	update *gen.Update
	record *record.Record
}

// prepare generates an output and compares it with existing files. It does not render files that are current according
// to the record, and leaves missing files to be rendered later.
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

// openRecord returns the record of an output. The record is empty if there is no cache.
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

// recordStore returns the store in the user's cache folder, or a store that saves nothing if there is no such folder.
func recordStore() record.Store {
	dir, err := os.UserCacheDir()
	if err != nil {
		return record.Store{}
	}
	return record.Store{Dir: filepath.Join(dir, "cidlc")}
}

// self returns a digest of this executable, since other builds may generate different output. It returns false on
// error.
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
