// Package record caches the contents produced by each input, so that files that are up to date need not be rendered.
//
// A record is a set of proofs. A proof is a hash of a file's path, its content, and everything that its rendering
// depends on: the compiler, the compiler's flags, and the file's part of the model. If the content on disk matches a
// proof, rendering the file would produce the same bytes. Since rendering is deterministic, a proof remains valid
// regardless of changes to the output folder. A corrupt proof never matches.
//
// Records are only a cache: missing, foreign, or corrupt records and unreadable folders cost only time. For this
// reason, no function returns an error. Each output has one small file in the user's cache folder, which is always
// replaced as a whole. If there are too many files, the oldest are removed.
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

// Digest is a SHA-256 hash.
type Digest [sha256.Size]byte

// Store is a folder of records.
type Store struct {
	// Dir is the path of the folder, which need not exist. A store with an empty Dir saves nothing.
	Dir string
}

const extension = ".txt"

// Record is the record of one output folder or file. It is safe for concurrent use.
type Record struct {
	store Store
	name  string // the path of the record's file
	input Digest
	known map[string]bool // proofs from earlier runs, as lines

	mu       sync.Mutex
	proofs   map[string]bool // proofs from this run, as lines
	rendered int
}

// Open returns the record of the output identified by key. Input is a digest of everything that all files of the output
// depend on.
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

// Watch sets the Current functions of files and wraps their Render functions to record a proof of each rendered file.
// It ignores files without an Input.
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

// proof returns the line that proves that content is up to date for f.
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

// Rendered returns the number of watched files that were rendered. Call it after rendering is complete.
func (r *Record) Rendered() int { return r.rendered }

// Save replaces the stored proofs with the proofs of this run. It ignores errors.
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

// limit is the maximum number of records to keep.
const limit = 200

// prune removes the oldest records if there are more than limit.
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
