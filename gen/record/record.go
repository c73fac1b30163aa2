// Package record remembers that an output was current, so that the next run need not render it to find out.
//
// A record says: for this folder, this input led to this state. The input is a digest of everything that rendering
// depends on: the compiler, its flags and the model. The state is that of the folder with all files in it, the
// generated ones and those written by hand, since generators look at both. If both are as recorded, rendering and
// writing would change nothing.
//
// The state is computed from what was generated, never from what is on disk after writing: if another process changes
// a file meanwhile, the record just does not match. Records are a convenience. A lost, foreign or damaged one, or a
// folder that cannot be read or written, costs time and nothing else, so no function here returns an error. Each
// output folder has one small file, replaced whole, in the user's cache folder, and the oldest go when there are many.
package record

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"
)

// Digest is a hash of some content.
type Digest [sha256.Size]byte

// Snapshot is the state of an output folder: a digest of each file by its slash-separated path. It is nil where the
// folder could not be looked at.
type Snapshot map[string]Digest

// Look takes a snapshot of a folder, which need not exist. Hidden folders and node_modules do not count. Of files that
// generators do not read, only the names do.
func Look(root string) Snapshot {
	found := Snapshot{}
	var names []string
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil && name == ".":
			return nil // Nothing there is a state like any other.
		case err != nil:
			return err
		case e.IsDir() && name != "." && (strings.HasPrefix(e.Name(), ".") || e.Name() == "node_modules"):
			return fs.SkipDir
		case e.IsDir():
			return nil
		}
		// A link is not what a file is, even where it leads to the same content.
		found[name] = sum([]byte(e.Type().String()))
		if read(name) && !e.IsDir() && (e.Type().IsRegular() || e.Type() == fs.ModeSymlink) {
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		return nil
	}
	digests := make([]Digest, len(names))
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, name := range names {
		g.Go(func() error {
			content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
			digests[i] = sum(content)
			return err
		})
	}
	if g.Wait() != nil {
		return nil
	}
	for i, name := range names {
		if found[name] == regular {
			found[name] = digests[i]
		} else {
			kind := found[name]
			found[name] = sum(slices.Concat(kind[:], digests[i][:]))
		}
	}
	return found
}

// regular stands for a regular file whose content does not count.
var regular = sum([]byte(fs.FileMode(0).String()))

// read reports whether generators may look into a file of that name.
func read(name string) bool {
	switch path.Ext(name) {
	case ".ts", ".tsx", ".mts", ".cts", ".go":
		return true
	}
	return path.Base(name) == "package.json"
}

func sum(content []byte) Digest { return sha256.Sum256(content) }

// Put notes what is in a file after it was written.
func (s Snapshot) Put(name string, content []byte) {
	s[name] = regular
	if read(name) {
		s[name] = sum(content)
	}
}

// Remove notes that there is no such file.
func (s Snapshot) Remove(name string) { delete(s, name) }

// digest sums a snapshot up.
func (s Snapshot) digest() Digest {
	names := make([]string, 0, len(s))
	for name := range s {
		names = append(names, name)
	}
	slices.Sort(names)
	h := sha256.New()
	for _, name := range names {
		digest := s[name]
		h.Write([]byte(name + "\x00"))
		h.Write(digest[:])
	}
	return Digest(h.Sum(nil))
}

// Store is a folder of records.
type Store struct {
	// Dir is the folder. It need not exist. An empty Dir is a store that forgets everything.
	Dir string
}

// entry is the content of a record.
type entry struct {
	Input, State string
	// Files is how many generated files there were.
	Files int
	// Check makes a damaged record known as one.
	Check string
}

func (e *entry) check() string {
	check := sum([]byte(strings.Join([]string{e.Input, e.State, strconv.Itoa(e.Files)}, " ")))
	return hex.EncodeToString(check[:])
}

const extension = ".json"

// file is where the record of an output folder is kept. The key tells folders apart.
func (s Store) file(key string) string {
	name := sum([]byte(key))
	return filepath.Join(s.Dir, hex.EncodeToString(name[:16])+extension)
}

// Current reports whether the input led to the state, and if so how many generated files are in it.
func (s Store) Current(key string, input Digest, state Snapshot) (files int, ok bool) {
	if s.Dir == "" || state == nil {
		return 0, false
	}
	content, err := os.ReadFile(s.file(key))
	if err != nil {
		return 0, false
	}
	var e entry
	if json.Unmarshal(content, &e) != nil || e.Check != e.check() {
		return 0, false
	}
	return e.Files, e == newEntry(input, state, e.Files)
}

// Remember records that the input led to the state, with so many generated files in it.
func (s Store) Remember(key string, input Digest, state Snapshot, files int) {
	if s.Dir == "" || state == nil {
		return
	}
	e := newEntry(input, state, files)
	content, err := json.Marshal(e)
	if err != nil || os.MkdirAll(s.Dir, 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(s.Dir, "*.tmp")
	if err != nil {
		return
	}
	_, err = f.Write(content)
	if closeErr := f.Close(); err != nil || closeErr != nil || os.Rename(f.Name(), s.file(key)) != nil {
		_ = os.Remove(f.Name())
		return
	}
	s.prune()
}

func newEntry(input Digest, state Snapshot, files int) entry {
	digest := state.digest()
	e := entry{Input: hex.EncodeToString(input[:]), State: hex.EncodeToString(digest[:]), Files: files}
	e.Check = e.check()
	return e
}

// limit is how many records are kept.
const limit = 200

// prune removes the oldest records and what killed runs have left, where there are too many files.
func (s Store) prune() {
	entries, err := os.ReadDir(s.Dir)
	if err != nil || len(entries) <= limit {
		return
	}
	type aged struct {
		name string
		age  int64
	}
	var files []aged
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			files = append(files, aged{e.Name(), -info.ModTime().UnixNano()})
		}
	}
	slices.SortFunc(files, func(a, b aged) int { return cmp.Compare(a.age, b.age) })
	for _, f := range files[min(limit, len(files)):] {
		_ = os.Remove(filepath.Join(s.Dir, f.name))
	}
}
