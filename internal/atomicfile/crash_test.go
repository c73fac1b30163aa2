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

// fault fails one operation of a write, or kills the process during it.
type fault struct {
	// At is the number of the operation, from 1, or 0 for none.
	At int
	// Kill is "before", "after" or "within", to kill the process relative to the operation. Only writes have a within.
	Kill string
	// Errno is the error to return otherwise; a failed write does half of its work.
	Errno syscall.Errno
	// On fails all later operations too.
	On bool
	// All also counts read-only operations.
	All bool
}

func (f fault) disk() *faulty {
	d, _ := f.counting()
	return d
}

// counting also returns the number of operations so far and the failed one.
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

// scenes are the initial contents.
var scenes = map[string]string{"replace": oldText, "create": ""}

func set(t testing.TB, before string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "graph.json")
	if before != "" {
		mustWrite(t, path, before)
		must(t, os.Chmod(path, 0o640)) // a non-default mode takes an extra step
	}
	return path
}

// state returns a file's content, or "" if it is missing.
func state(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return string(text)
}

// check requires the old or new content, and a successful next write that removes leftovers.
func check(t testing.TB, path, before string) {
	t.Helper()
	if got := state(t, path); got != before && got != newText {
		t.Errorf("got %q", got)
	}
	must(t, write(&faulty{quick: true}, path, []byte("next"), 0o600))
	if mustRead(t, path) != "next" {
		t.Error("the next write did not write")
	}
	if left := leftovers(t, path); len(left) > 0 {
		t.Errorf("leftover files: %q", left)
	}
}

func leftovers(t testing.TB, path string) []string {
	t.Helper()
	return slices.DeleteFunc(names(t, filepath.Dir(path)), func(name string) bool { return !strings.HasPrefix(name, ".") })
}

// TestKill kills a process before, after and within every modifying operation.
func TestKill(t *testing.T) {
	for name, before := range scenes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, h := fault{}.counting()
			must(t, write(d, set(t, before), []byte(newText), 0o600))
			kills, left := 0, 0
			for _, kill := range []string{"before", "within", "after"} {
				for at := 1; at <= h.count; at++ {
					path := set(t, before)
					printed, killed := run(t, job{Do: "write", Path: path, Text: newText, Fault: fault{At: at, Kill: kill}})
					if printed != "" {
						t.Fatalf("%s operation %d: unexpected output %s", kill, at, printed)
					}
					left += len(leftovers(t, path))
					if killed {
						kills++
					}
					check(t, path, before)
					if t.Failed() {
						t.Fatalf("killed %s operation %d", kill, at)
					}
				}
			}
			if kills <= 2*h.count || left == 0 {
				t.Errorf("%d kills at %d operations left %d files, want more", kills, h.count, left)
			}
		})
	}
}

// TestErrors fails every operation, including read-only ones, once or together with all later ones.
func TestErrors(t *testing.T) {
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
					err := write(d, path, []byte(newText), 0o600)
					checkError(t, path, err, h.op, f)
					check(t, path, before)
					if t.Failed() {
						t.Fatalf("operation %d, %s, failed with %v (on: %v): %v", f.At, h.op, f.Errno, f.On, err)
					}
					if h.count < f.At {
						break
					}
				}
			}
		})
	}
}

// checkError requires the expected error if and only if the file is not the new one.
func checkError(t testing.TB, path string, err error, o op, f fault) {
	t.Helper()
	written := state(t, path) == newText
	if wantWritten := err == nil || errors.Is(err, ErrUnsynced); written != wantWritten {
		t.Errorf("got error %v, written: %v", err, written)
	}
	if err != nil && !errors.Is(err, f.Errno) {
		t.Errorf("the error lacks its cause: %v", err)
	}
	if err == nil && o.name != "" && o.writes() && o.name != "remove" {
		t.Error("got no error")
	}
	if unsynced := o.name == "sync folder"; errors.Is(err, ErrUnsynced) != unsynced {
		t.Errorf("got error %v (%v: %v)", err, ErrUnsynced, unsynced)
	}
	if f.On || o.name == "remove" {
		return // nothing can be removed
	}
	if left := leftovers(t, path); len(left) > 0 {
		t.Errorf("leftover files: %q", left)
	}
}
