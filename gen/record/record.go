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
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lumi-idl/lumi/gen"
)

// Digest is a hash of some content.
type Digest [sha256.Size]byte

// Digests are the state of an output folder: a digest of each file by its slash-separated path. They are nil where the
// folder could not be looked at.
type Digests map[string]Digest

// Look digests a folder, which need not exist. Hidden folders and node_modules do not count.
func Look(root string) Digests {
	var names []string
	var kinds []fs.FileMode
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil && name == ".":
			return nil // Nothing there is a state like any other.
		case err != nil:
			return err
		case e.IsDir() && name != "." && (strings.HasPrefix(e.Name(), ".") || e.Name() == "node_modules"):
			return fs.SkipDir
		case !e.IsDir():
			names, kinds = append(names, name), append(kinds, e.Type())
		}
		return nil
	})
	if err != nil {
		return nil
	}
	digests := make([]Digest, len(names))
	err = gen.Parallel(len(names), func(i int) (err error) {
		var content []byte
		name := filepath.Join(root, filepath.FromSlash(names[i]))
		switch info, statErr := os.Stat(name); {
		case statErr != nil || !info.Mode().IsRegular(): // such as a link to a folder
		case info.Size() >= huge:
			content = strconv.AppendInt(nil, info.Size(), 10)
		default:
			content, err = os.ReadFile(name)
		}
		digests[i] = digest(kinds[i], content)
		return err
	})
	if err != nil {
		return nil
	}
	found := make(Digests, len(names))
	for i, name := range names {
		found[name] = digests[i]
	}
	return found
}

// huge is the size from which on files count by size alone. No generated file is that large, and a provider's folder may
// hold anything.
const huge = 16 << 20

// digest tells kinds of files apart too: a link is not what a file is, even where it leads to the same content.
func digest(kind fs.FileMode, content []byte) Digest {
	return sum(append([]byte(kind.String()+"\x00"), content...))
}

func sum(content []byte) Digest { return sha256.Sum256(content) }

// Apply notes what an update does to the folder.
func (d Digests) Apply(changes []gen.Change) {
	if d == nil {
		return
	}
	for _, c := range changes {
		if d[c.Path] = digest(0, c.Content); c.Remove {
			delete(d, c.Path)
		}
	}
}

// digest sums the state up.
func (d Digests) digest() Digest {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(d)) {
		digest := d[name]
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

const extension = ".txt"

// entry is the content of a record: a digest of what it says, and how many generated files there were.
func entry(input Digest, state Digests, files int) string {
	digest := state.digest()
	return fmt.Sprintf("%x %d\n", sum(fmt.Appendf(nil, "%x %x %d", input, digest, files)), files)
}

// file is where the record of an output folder is kept. The key tells folders apart.
func (s Store) file(key string) string {
	name := sum([]byte(key))
	return filepath.Join(s.Dir, hex.EncodeToString(name[:16])+extension)
}

// Current reports whether the input led to the state, and if so how many generated files are in it.
func (s Store) Current(key string, input Digest, state Digests) (files int, ok bool) {
	if s.Dir == "" || state == nil {
		return 0, false
	}
	content, err := os.ReadFile(s.file(key))
	if err != nil {
		return 0, false
	}
	_, count, _ := strings.Cut(strings.TrimSuffix(string(content), "\n"), " ")
	files, err = strconv.Atoi(count)
	return files, err == nil && string(content) == entry(input, state, files)
}

// Remember records that the input led to the state, with so many generated files in it.
func (s Store) Remember(key string, input Digest, state Digests, files int) {
	if s.Dir == "" || state == nil {
		return
	}
	if os.MkdirAll(s.Dir, 0o700) != nil {
		return
	}
	update, err := gen.CompareFile(s.file(key), []byte(entry(input, state, files)))
	if err != nil {
		return
	}
	if _, err := gen.Write(context.Background(), update); err == nil {
		s.prune()
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
