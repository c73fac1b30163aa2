package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// fault makes one operation of a write fail, or kills the process during it.
type fault struct {
	// At is the number of the operation, counting from 1. The zero value means no operation.
	At int
	// Kill is "before", "after", or "within", which kills the process at that point of the operation. Only writes have
	// a within.
	Kill string
	// Errno is the error returned if Kill is empty. A write that fails writes half of its data.
	Errno syscall.Errno
	// On makes all later operations fail too.
	On bool
	// All counts read-only operations too.
	All bool
}

func (f fault) disk() *faulty {
	d, _ := f.counting()
	return d
}

// counting returns a disk with the fault, and a hit that receives the number of operations and the operation that
// failed.
func (f fault) counting() (*faulty, *hit) {
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

type hit struct {
	count int
	op    op
}

// die kills the process with SIGKILL.
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

const oldText, newText = "the old content", "the new content"

// scenes maps each initial state to the initial content of the file.
var scenes = map[string]string{"replace": oldText, "create": ""}

func set(t testing.TB, before string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "graph.json")
	if before != "" {
		mustWrite(t, path, before)
		must(t, os.Chmod(path, 0o640)) // replacing a file with a non-default mode takes an extra step
	}
	return path
}

// state returns the content of a file, or "" if it does not exist.
func state(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return string(text)
}

// check requires the file to have either the old or the new content, and the next write to succeed and remove
// leftovers.
func check(t testing.TB, path, before string) {
	t.Helper()
	if got := state(t, path); got != before && got != newText {
		t.Errorf("content = %q, want %q or the new text", got, before)
	}
	must(t, write(&faulty{quick: true}, path, Bytes([]byte("next")), 0o600))
	if mustRead(t, path) != "next" {
		t.Error("the next write did not change the file")
	}
	if left := leftovers(t, path); len(left) > 0 {
		t.Errorf("leftover files = %q, want none", left)
	}
}

func leftovers(t testing.TB, path string) []string {
	t.Helper()
	return slices.DeleteFunc(names(t, filepath.Dir(path)), func(name string) bool { return !strings.HasPrefix(name, ".") })
}

// TestProcessKilled kills a process before, after, and within each modifying operation.
func TestProcessKilled(t *testing.T) {
	for name, before := range scenes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, h := fault{}.counting()
			must(t, write(d, set(t, before), Bytes([]byte(newText)), 0o600))
			kills, left := 0, 0
			for _, kill := range []string{"before", "within", "after"} {
				for at := 1; at <= h.count; at++ {
					path := set(t, before)
					printed, killed := run(t, job{Do: "write", Path: path, Text: newText, Fault: fault{At: at, Kill: kill}})
					if printed != "" {
						t.Fatalf("child killed %s operation %d printed %s", kill, at, printed)
					}
					left += len(leftovers(t, path))
					if killed {
						kills++
					}
					check(t, path, before)
					if t.Failed() {
						t.Fatalf("content is wrong after a kill %s operation %d", kill, at)
					}
				}
			}
			if kills <= 2*h.count || left == 0 {
				t.Errorf("%d kills at %d operations left %d files, want more than 2 kills per operation and some files", kills, h.count, left)
			}
		})
	}
}

// TestFailedOperations makes each operation fail, including read-only ones, either alone or together with all later ones.
func TestFailedOperations(t *testing.T) {
	for name, before := range scenes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, f := range []fault{
				{Errno: syscall.EIO}, {Errno: syscall.EINTR},
				{Errno: syscall.EIO, On: true}, {Errno: syscall.ENOSPC, On: true}, {Errno: syscall.EROFS, On: true},
			} {
				f.All = true
				for f.At = 1; ; f.At++ {
					path := set(t, before)
					d, h := f.counting()
					err := write(d, path, Bytes([]byte(newText)), 0o600)
					checkError(t, path, err, h.op, f)
					check(t, path, before)
					if t.Failed() {
						t.Fatalf("operation %d, %s, failed with %v (later ones too: %v), and write returned %v", f.At, h.op, f.Errno, f.On, err)
					}
					if h.count < f.At {
						break
					}
				}
			}
		})
	}
}

// checkError requires err to match the state of the file: either the file is new, or err has the expected cause.
func checkError(t testing.TB, path string, err error, o op, f fault) {
	t.Helper()
	written := state(t, path) == newText
	if wantWritten := err == nil || errors.Is(err, ErrUnsynced); written != wantWritten {
		t.Errorf("error = %v, but file written = %v", err, written)
	}
	if err != nil && !errors.Is(err, f.Errno) {
		t.Errorf("error = %v, want it to wrap the cause", err)
	}
	if err == nil && o.name != "" && o.writes() && o.name != "remove" {
		t.Error("error = nil, want one from the failed operation")
	}
	if unsynced := o.name == "sync folder"; errors.Is(err, ErrUnsynced) != unsynced {
		t.Errorf("error = %v, want %v = %v", err, ErrUnsynced, unsynced)
	}
	if f.On || o.name == "remove" {
		return // no file can be removed
	}
	if left := leftovers(t, path); len(left) > 0 {
		t.Errorf("leftover files = %q, want none", left)
	}
}
