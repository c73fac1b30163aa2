package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func mustWrite(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func mustRead(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func names(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func wantNames(t testing.TB, dir string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, names(t, dir)); diff != "" {
		t.Errorf("names in the folder (-want +got):\n%s", diff)
	}
}

// wantError compares an error message, in which DIR is a placeholder for dir.
func wantError(t testing.TB, dir string, err error, want string) {
	t.Helper()
	if err == nil {
		t.Fatalf("error = nil, want %q", want)
	}
	if diff := cmp.Diff(want, strings.ReplaceAll(err.Error(), dir, "DIR")); diff != "" {
		t.Errorf("error message (-want +got):\n%s", diff)
	}
}

func wantMode(t testing.TB, path string, want os.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	if info.Mode() != want {
		t.Errorf("mode = %v, want %v", info.Mode(), want)
	}
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "graph.json")
	must(t, Write(path, []byte("one")))
	must(t, os.Chmod(path, 0o640))
	other := filepath.Join(dir, "other.json")
	must(t, os.Link(path, other))
	var got []string
	must(t, write(trace(&got), path, Bytes([]byte("two")), 0o600))
	want := []string{
		"create .graph.json-*.tmp", "write .graph.json-*.tmp", "chmod .graph.json-*.tmp", "sync .graph.json-*.tmp",
		"close .graph.json-*.tmp", "rename .graph.json-*.tmp to graph.json", "sync folder " + filepath.Base(dir),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
	if mustRead(t, path) != "two" || mustRead(t, other) != "one" {
		t.Errorf("content = %q, other hard link = %q, want two and one", mustRead(t, path), mustRead(t, other))
	}
	wantMode(t, path, 0o640)
	got = nil
	must(t, write(trace(&got), path, Bytes([]byte("two")), 0o600))
	if len(got) > 0 {
		t.Errorf("operations of a Write without changes = %q, want none", got)
	}
	wantNames(t, dir, "graph.json", "other.json")
}

func TestWriteUnsynced(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "graph.json")
	d := &faulty{before: func(o op) error {
		if o.name == "sync folder" {
			return syscall.EIO
		}
		return nil
	}}
	err := write(d, path, Bytes([]byte("one")), 0o600)
	wantError(t, dir, err, "DIR/graph.json was written, but it may not survive a power loss: input/output error")
	if !errors.Is(err, ErrUnsynced) || mustRead(t, path) != "one" {
		t.Errorf("Write = %v, content = %q, want ErrUnsynced and one", err, mustRead(t, path))
	}
}

func TestLeftoversRemoved(t *testing.T) {
	dir := t.TempDir()
	const random = "ABCDEFGHIJKLMNOPQRSTUVWX27"
	keep := []string{
		".test.json-" + random[1:] + ".tmp", ".test.json-" + strings.ToLower(random) + ".tmp", ".test.json-" + random + ".part",
		".test.json-b-" + random + ".tmp", "test.json-" + random + ".tmp", ".prod.json-" + random + ".tmp",
		".test.json-" + random, random + ".tmp",
	}
	for _, name := range append(keep, ".test.json-"+random+".tmp") {
		mustWrite(t, filepath.Join(dir, name), "x")
	}
	const folder = ".test.json-ABCDEFGHIJKLMNOPQRSTUVWXYZ.tmp"
	must(t, os.Mkdir(filepath.Join(dir, folder), 0o700))
	must(t, Write(filepath.Join(dir, "test.json"), []byte("{}")))
	for _, name := range append(keep, folder, "test.json") {
		must(t, os.Remove(filepath.Join(dir, name)))
	}
	wantNames(t, dir)
}

func TestSymbolicLinks(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "graph.json"), filepath.Join(dir, "link.json")
	mustWrite(t, path, "one")
	if err := os.Symlink("graph.json", link); err != nil {
		t.Skip(err)
	}
	must(t, Write(link, []byte("two")))
	info, err := os.Lstat(link)
	must(t, err)
	if info.Mode()&fs.ModeSymlink == 0 || mustRead(t, path) != "two" {
		t.Errorf("Write through a link: link mode = %v, content = %q, want a symbolic link and %q", info.Mode(), mustRead(t, path), "two")
	}
	must(t, os.Remove(path))
	wantError(t, dir, Write(link, nil), "cannot write DIR/link.json: it is a dangling symbolic link")
	if err := WriteNew(link, Bytes(nil), 0o600); !errors.Is(err, fs.ErrExist) {
		t.Errorf("WriteNew at a dangling link = %v, want fs.ErrExist", err)
	}
	wantError(t, dir, Write(dir, nil), "cannot write DIR: it is not a regular file")
	wantError(t, dir, WriteNew(filepath.Join(dir, "x", "y"), Bytes(nil), 0o600), "cannot write DIR/x/y: no such file or directory")
}

func TestWriteMode(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not support file modes")
	}
	path := filepath.Join(t.TempDir(), "graph.json")
	for _, mode := range []os.FileMode{0o600, 0o644} {
		must(t, WriteMode(path, Bytes([]byte(mode.String())), 0o600))
		wantMode(t, path, mode)
		must(t, os.Chmod(path, 0o644))
	}
}

// Write succeeds even if a concurrent writer removes its staged file.
func TestWriteStagedFileRemoved(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "graph.json")
	times := 0
	d := &faulty{before: func(o op) error {
		if o.name == "rename" && times < 3 {
			times++
			return os.Remove(o.path)
		}
		return nil
	}}
	must(t, write(d, path, Bytes([]byte("one")), 0o600))
	if mustRead(t, path) != "one" || times != 3 {
		t.Errorf("content = %q after %d attempts, want one after 3", mustRead(t, path), times)
	}
}

// A file that another process creates during WriteNew stays, with and without hard links.
func TestWriteNew(t *testing.T) {
	for _, links := range []bool{true, false} {
		for _, rival := range []bool{true, false} {
			dir := t.TempDir()
			path := filepath.Join(dir, "graph.html")
			d := &faulty{before: func(o op) error {
				if o.name != "link" {
					return nil
				}
				if rival {
					mustWrite(t, path, "rival")
				}
				if !links {
					return errors.ErrUnsupported
				}
				return nil
			}}
			err, want := writeNew(d, path, Bytes([]byte("ours")), 0o600), "ours"
			if rival {
				want = "rival"
			}
			if errors.Is(err, fs.ErrExist) != rival || err != nil && !rival {
				t.Errorf("WriteNew with links %v, rival %v = %v, want fs.ErrExist = %v", links, rival, err, rival)
			}
			if got, err := os.ReadFile(path); err != nil || string(got) != want {
				t.Errorf("content with links %v, rival %v = %q, %v, want %q", links, rival, got, err, want)
			}
			wantNames(t, dir, "graph.html")
		}
	}
	dir := t.TempDir()
	broken := &faulty{before: func(o op) error {
		if o.name == "link" || o.name == "rename" {
			return errors.ErrUnsupported
		}
		return nil
	}}
	err := writeNew(broken, filepath.Join(dir, "graph.html"), Bytes(nil), 0o600)
	wantError(t, dir, err, "cannot write DIR/graph.html: unsupported operation")
	wantNames(t, dir)
}

// If a concurrent writer removes the staged file, WriteNew must not claim the name. Otherwise, that writer would fail
// with fs.ErrExist.
func TestWriteNewStagedFileRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "graph.html")
	times := 0
	d := &faulty{before: func(o op) error {
		if o.path == path {
			t.Errorf("WriteNew performed the operation %s on %s, want none on the target", o.name, o.path)
		}
		if o.name == "link" && times < 3 {
			times++
			return os.Remove(o.path)
		}
		return nil
	}}
	must(t, writeNew(d, path, Bytes([]byte("one")), 0o600))
	if mustRead(t, path) != "one" || times != 3 {
		t.Errorf("content = %q after %d attempts, want one after 3", mustRead(t, path), times)
	}
}

// Content written in several pieces is compared with the file, and an error of the content leaves the file unchanged.
func TestContent(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "graph.json")
	content := func(w io.Writer) error {
		for _, piece := range []string{"one ", "two ", "three"} {
			if _, err := io.WriteString(w, piece); err != nil {
				return err
			}
		}
		return nil
	}
	for _, c := range []struct {
		old     string
		written bool
	}{{"one two three", false}, {"one two thrEe", true}, {"one two", true}, {"one ", true}, {"", true}, {"one two three four", true}} {
		mustWrite(t, path, c.old)
		var did []string
		must(t, write(trace(&did), path, content, 0o600))
		if mustRead(t, path) != "one two three" || len(did) > 0 != c.written {
			t.Errorf("after %q: content = %q, written = %t, want written = %t", c.old, mustRead(t, path), len(did) > 0, c.written)
		}
	}
	bad := func(w io.Writer) error {
		if _, err := io.WriteString(w, "one "); err != nil {
			return err
		}
		return errors.New("bad graph")
	}
	wantError(t, dir, WriteMode(path, bad, 0o600), "cannot write DIR/graph.json, which is unchanged: bad graph")
	wantError(t, dir, WriteNew(filepath.Join(dir, "new.json"), bad, 0o600), "cannot write DIR/new.json: bad graph")
	mustWrite(t, path, "other")
	wantError(t, dir, WriteMode(path, bad, 0o600), "cannot write DIR/graph.json, which is unchanged: bad graph")
	wantNames(t, dir, "graph.json")
}
