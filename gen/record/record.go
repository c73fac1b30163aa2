// Package record remembers which inputs led to which contents, so that a file need not be rendered to find out that it is
// current.
//
// A record is a set of proofs. A proof is a hash of a file's path, of everything that rendering it depends on (the
// compiler, its flags and the file's part of the model) and of its content. If the content of a file on disk has a proof,
// rendering the file would yield the same bytes. Rendering is a function of its input, so a proof holds for ever, whatever
// happens to the output folder; and a damaged one proves nothing.
//
// Records are a convenience. A lost, foreign or damaged one, or a folder that cannot be read or written, costs time and
// nothing else, so no function here returns an error. Each output has one small file, replaced whole, in the user's cache
// folder, and the oldest go when there are many.
package record

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lumi-idl/lumi/gen"
)

// Digest is a hash of some content.
type Digest [sha256.Size]byte

// Store is a folder of records.
type Store struct {
	// Dir is the folder. It need not exist. An empty Dir is a store that forgets everything.
	Dir string
}

const extension = ".txt"

// Record is what is known of the files of one output. It is safe for concurrent use.
type Record struct {
	store Store
	name  string // of the file that it is kept in
	input Digest
	known map[string]bool // the proofs of earlier runs, as lines

	mu       sync.Mutex
	proofs   map[string]bool // those of this run
	rendered int
}

// Open returns the record of an output. The key tells outputs apart, and the input is a digest of what all files of the
// output depend on.
func (s Store) Open(key string, input Digest) *Record {
	name := sha256.Sum256([]byte(key))
	r := &Record{
		store: s, name: filepath.Join(s.Dir, hex.EncodeToString(name[:16])+extension), input: input,
		known: map[string]bool{}, proofs: map[string]bool{},
	}
	if s.Dir == "" {
		return r
	}
	content, _ := os.ReadFile(r.name)
	for line := range strings.Lines(string(content)) {
		r.known[line] = true
	}
	return r
}

// Watch makes the record tell which of the files are current, and learn from those that are rendered. Files without an
// input are left alone.
func (r *Record) Watch(files []gen.File) {
	for i, f := range files {
		if f.Input == [sha256.Size]byte{} {
			continue
		}
		files[i].Current = func(content []byte) bool {
			proof := r.proof(f, content)
			if r.known[proof] {
				r.learn(proof, 0)
			}
			return r.known[proof]
		}
		files[i].Render = func() ([]byte, error) {
			content, err := f.Render()
			if err == nil {
				r.learn(r.proof(f, content), 1)
			}
			return content, err
		}
	}
}

// proof returns the line that stands for a content of a file.
func (r *Record) proof(f gen.File, content []byte) string {
	path := sha256.Sum256([]byte(f.Path))
	h := sha256.New()
	for _, part := range [][]byte{r.input[:], f.Input[:], path[:], content} {
		h.Write(part)
	}
	return hex.EncodeToString(h.Sum(nil)) + "\n"
}

func (r *Record) learn(proof string, rendered int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.proofs[proof] = true
	r.rendered += rendered
}

// Rendered returns how many of the watched files have been rendered.
func (r *Record) Rendered() int { return r.rendered }

// Save writes what this run has found out, in the place of what earlier runs have.
func (r *Record) Save() {
	if r.store.Dir == "" || len(r.proofs) == 0 || os.MkdirAll(r.store.Dir, 0o700) != nil {
		return
	}
	lines := slices.Sorted(maps.Keys(r.proofs))
	update, err := gen.CompareFile(r.name, []byte(strings.Join(lines, "")))
	if err != nil {
		return
	}
	if _, err := gen.Write(context.Background(), update); err == nil {
		r.store.prune()
	}
}

// limit is how many records are kept.
const limit = 200

// prune removes the oldest records and what killed runs have left, where there are too many files.
func (s Store) prune() {
	entries, err := os.ReadDir(s.Dir)
	if err != nil || len(entries) <= limit {
		return
	}
	ages := map[string]time.Duration{}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			ages[e.Name()] = time.Since(info.ModTime())
		}
	}
	names := slices.SortedFunc(maps.Keys(ages), func(a, b string) int { return cmp.Compare(ages[a], ages[b]) })
	for _, name := range names[min(limit, len(names)):] {
		_ = os.Remove(filepath.Join(s.Dir, name))
	}
}
