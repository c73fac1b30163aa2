package file

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/lumi-idl/lumi/lumigl"
)

// fault says which operation something happens to, and what.
type fault struct {
	// At is the number of the operation, from 1. Nothing happens if it is 0.
	At int
	// Kill is "before", "after" or "within" the operation, if the process is to be killed. Only writes have a within.
	Kill string
	// Errno is what the operation fails with otherwise; a write does a part first.
	Errno syscall.Errno
	// On says that all operations behind it fail too.
	On bool
	// All says that operations count that change nothing.
	All bool
}

// disk makes a disk with the fault.
func (f fault) disk(noLink bool) *faulty {
	d, _ := f.counting(noLink)
	return d
}

// counting returns also where the operations are counted and the one with the fault is noted.
func (f fault) counting(noLink bool) (*faulty, *hit) {
	h := &hit{}
	d := &faulty{quick: true}
	d.before = func(o op) error {
		if f.All || o.changes() {
			h.count++
		}
		here := h.count == f.At && (f.All || o.changes())
		if here {
			h.op = o
		}
		switch {
		case here && f.Kill == "before":
			die()
		case here && f.Kill == "within" && o.name == "write":
			o.part()
			die()
		case f.Errno != 0 && (here || f.On && f.At > 0 && h.count > f.At):
			if o.name == "write" {
				o.part()
			}
			return f.Errno
		case noLink && o.name == "link":
			return syscall.EPERM
		}
		return nil
	}
	d.after = func(o op) {
		if f.Kill == "after" && h.count == f.At && o.changes() {
			die()
		}
	}
	return d, h
}

// hit tells which operation had the fault.
type hit struct {
	count int
	op    op
}

// die ends the process as kill -9 does.
func die() {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		panic(err)
	}
	select {}
}

// scene is a way to write a file, with what is there before.
type scene struct {
	name    string
	do      string
	history []string // the words of what was saved before
	noLink  bool
	// half says that a writer was killed between the two renames, so that the file and the backup are one.
	half bool
}

var scenes = []scene{
	{name: "first", do: "save"},
	{name: "second", do: "save", history: []string{"one"}},
	{name: "third", do: "save", history: []string{"one", "two"}},
	{name: "after a crash", do: "save", history: []string{"one", "two"}, half: true},
	{name: "without links", do: "save", history: []string{"one", "two"}, noLink: true},
	{name: "without lock", do: "write", history: []string{"one"}},
	{name: "without lock, first", do: "write"},
}

// set makes the files that are there before, and returns what the file and the backup may hold then and later.
func (s scene) set(t testing.TB) (path string, file, kept []string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "prod.json")
	for i, word := range s.history {
		name := path
		if i < len(s.history)-1 {
			name += backupSuffix
		}
		mustWrite(t, name, textOf(t, word, uint64(i+1)))
		must(t, os.Chmod(name, 0o640)) // Another mode than that of new files takes a step more.
	}
	if s.half {
		must(t, os.Remove(path+backupSuffix))
		must(t, os.Link(path, path+backupSuffix))
	}
	file, kept = []string{s.state(t, path)}, []string{s.state(t, path+backupSuffix)}
	if s.do == "save" {
		kept = append(kept, file[0])
	}
	return path, append(file, "new"), kept
}

// saves are the texts of snapshots, which are the same in all scenes.
var saves sync.Map

func textOf(t testing.TB, word string, serial uint64) string {
	t.Helper()
	if text, ok := saves.Load(word); ok {
		return text.(string)
	}
	snapshot := large(t, word)
	snapshot.Lineage, snapshot.Serial = "L", serial
	text, err := lumigl.Append(nil, snapshot)
	must(t, err)
	if len(text) <= 64<<10 {
		t.Fatalf("%d bytes are written at once, so that nobody can be killed in between", len(text))
	}
	saves.Store(word, string(text))
	return string(text)
}

// state is the word of a snapshot, which has to be whole, or what else there is.
func (s scene) state(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "no file"
	case err != nil:
		return err.Error()
	case string(text) == "new":
		return "new" // WriteAtomic writes anything.
	}
	// Most of what is found has been found before, but for the lineage.
	digest := sha256.Sum256(lineages.ReplaceAll(text, nil))
	if found, ok := states.Load(digest); ok {
		return found.(string)
	}
	found := stateOf(t, path)
	states.Store(digest, found)
	return found
}

var (
	lineages = regexp.MustCompile(`"lineage": "[A-Z2-7]{26}"`)
	states   sync.Map
)

func stateOf(t testing.TB, path string) string {
	t.Helper()
	snapshot, _, err := Load(path)
	switch {
	case err != nil:
		return err.Error()
	case snapshot.Len() != crowd:
		return fmt.Sprintf("%d resources", snapshot.Len())
	}
	return word(t, snapshot)
}

// check holds that what is there is whole, and that the next writer clears up.
func (s scene) check(t testing.TB, path string, file, kept []string) {
	t.Helper()
	if got := s.state(t, path); !slices.Contains(file, got) {
		t.Errorf("there is %s, want one of %q", got, file)
	}
	if got := s.state(t, path+backupSuffix); !slices.Contains(kept, got) {
		t.Errorf("the backup is %s, want one of %q", got, kept)
	}
	if s.do == "write" {
		must(t, writeAtomic(&faulty{quick: true}, path, []byte("next")))
		if mustRead(t, path) != "next" {
			t.Error("the next writer does not write")
		}
	} else {
		_, before, err := Load(path)
		must(t, err)
		next, err := save(path, large(t, "next"), &faulty{quick: true})
		must(t, err)
		if next.Serial != before.Serial+1 || s.state(t, path) != "next" {
			t.Errorf("the next save makes %s of %s", next, before)
		}
	}
	for _, name := range names(t, filepath.Dir(path)) {
		if strings.HasPrefix(name, ".") {
			t.Errorf("%s was left behind", name)
		}
	}
}

// TestKill kills a process before, after and within every operation that changes anything.
func TestKill(t *testing.T) {
	for _, s := range scenes {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			kills, leftovers := 0, 0
			for _, kill := range []string{"before", "within", "after"} {
				for at := 1; ; at++ {
					path, file, kept := s.set(t)
					printed, killed := run(t, job{
						Do: s.do, Path: path, Word: "new", NoLink: s.noLink, Fault: fault{At: at, Kill: kill},
					})
					if printed != "" {
						t.Fatalf("%s operation %d, the child says %s", kill, at, printed)
					}
					for _, name := range names(t, filepath.Dir(path)) {
						if strings.HasPrefix(name, ".") {
							leftovers++
						}
					}
					s.check(t, path, file, kept)
					if t.Failed() {
						t.Fatalf("killed %s operation %d", kill, at)
					}
					if killed {
						kills++
					}
					if !killed && at > s.operations(t) {
						break
					}
				}
			}
			t.Logf("%d kills, %d leftovers", kills, leftovers)
			if n := s.operations(t); kills < 2*n || leftovers == 0 {
				t.Errorf("%d kills at %d operations left %d files behind: this test shows nothing", kills, n, leftovers)
			}
		})
	}
}

// operations is how many of them change anything.
func (s scene) operations(t testing.TB) int {
	t.Helper()
	path, _, _ := s.set(t)
	d, h := fault{}.counting(s.noLink)
	must(t, s.write(path, d))
	return h.count
}

func (s scene) write(path string, d disk) error {
	d = anchor(d) // Relative names are not to lose errors.
	if s.do == "write" {
		return writeAtomic(d, path, []byte("new"))
	}
	_, err := save(path, job{Word: "new"}.snapshot(), d)
	return err
}

// TestErrors lets every operation fail, those which change nothing too: once, or with all that follow.
func TestErrors(t *testing.T) {
	for _, s := range scenes {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			failed := 0
			for _, f := range []fault{
				{Errno: syscall.EIO}, {Errno: syscall.EINTR},
				{Errno: syscall.EIO, On: true}, {Errno: syscall.ENOSPC, On: true}, {Errno: syscall.EROFS, On: true},
			} {
				f.All = true
				for f.At = 1; ; f.At++ {
					path, file, kept := s.set(t)
					d, h := f.counting(s.noLink)
					err := s.write(path, d)
					if err != nil {
						failed++
					}
					s.checkError(t, path, err, h.op, f)
					s.check(t, path, file, kept)
					if t.Failed() {
						t.Fatalf("operation %d, %s, failed with %v (on: %v): %v", f.At, h.op, f.Errno, f.On, err)
					}
					if h.count < f.At {
						break
					}
				}
			}
			if failed < 30 {
				t.Errorf("only %d failures: this test shows nothing", failed)
			}
		})
	}
}

// matters reports whether a save that lacks an operation is not one that may be reported as done. It may lack a hard
// link, since a copy serves as well, what clears up, and what stands in the lock file.
func (o op) matters() bool {
	return o.writes() && o.name != "link" && o.name != "remove" && !strings.HasSuffix(o.path, lockSuffix)
}

// checkError holds that an error says what happened, and that without one the file is the new one.
func (s scene) checkError(t testing.TB, path string, err error, o op, f fault) {
	t.Helper()
	state := s.state(t, path)
	unlock := err != nil && strings.HasPrefix(err.Error(), "cannot unlock ")
	switch {
	case err == nil || errors.Is(err, ErrUnsynced) || unlock:
		if state != "new" {
			t.Errorf("the error is %v, and the file is %s", err, state)
		}
	case state == "new":
		t.Errorf("the error is %v, and the file is the new one", err)
	}
	if err != nil && !errors.Is(err, f.Errno) {
		t.Errorf("the error does not say why: %v", err)
	}
	if err == nil && o.name != "" && o.matters() {
		t.Error("there is no error")
	}
	if unsynced := o.name == "sync folder"; errors.Is(err, ErrUnsynced) != unsynced {
		t.Errorf("the error is %v (%v: %v)", err, ErrUnsynced, unsynced)
	}
	if f.On || o.name == "remove" {
		return // Then nobody can remove anything.
	}
	for _, name := range names(t, filepath.Dir(path)) {
		if strings.HasPrefix(name, ".") {
			t.Errorf("%s was left behind", name)
		}
	}
}
