package atomicfile

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestLongNames(t *testing.T) {
	for _, name := range []string{
		strings.Repeat("x", 100), strings.Repeat("x", 101), strings.Repeat("x", 255), "x" + strings.Repeat("ä", 127), strings.Repeat("\xff", 255),
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		// Leftovers of a file with a similar name must stay.
		mine, theirs := temporary(path), temporary(path[:len(path)-1]+"y")
		mustWrite(t, mine, "x")
		mustWrite(t, theirs, "x")
		must(t, Write(path, []byte("one")))
		must(t, Write(path, []byte("two")))
		wantNames(t, dir, filepath.Base(theirs), name)
	}
	dir := t.TempDir()
	name := strings.Repeat("x", 256)
	wantError(t, dir, Write(filepath.Join(dir, name), nil), "cannot write DIR/"+name+": file name too long")
}

// A path such as link/.. is resolved as the system does.
func TestParentOfLink(t *testing.T) {
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "real", "sub"), 0o755))
	must(t, os.Symlink(filepath.Join("real", "sub"), filepath.Join(dir, "link")))
	t.Chdir(dir)
	for path, at := range map[string]string{
		"link/../a.json": "real", "link/b.json": "real/sub", dir + "/link/../c.json": "real", "real/sub/../../d.json": ".",
		"./e.json": ".", "link/.//../../f.json": ".",
	} {
		must(t, Write(path, []byte("one")))
		must(t, Write(path, []byte("two")))
		if got := mustRead(t, filepath.Join(at, filepath.Base(path))); got != "two" {
			t.Errorf("content after Write(%s) = %q, want two", path, got)
		}
	}
	mustWrite(t, "real/b", "x")
	must(t, os.Symlink("loop", "loop"))
	for path, want := range map[string]string{
		"no/../a.json": "cannot write no/../a.json: no such file or directory",
		"no/":          "cannot write no/: no such file or directory",
		"..":           "cannot write ..: it is not a regular file",
		"real/b/c":     "cannot write real/b/c: not a directory",
		"loop":         "cannot write loop: it is a symbolic link to itself",
		"":             "cannot write : empty path",
	} {
		wantError(t, dir, Write(path, nil), want)
	}
}

// Irregular files are neither waited for nor replaced, even if they appear during the write.
func TestIrregularFiles(t *testing.T) {
	wantError(t, "/dev/null", Write("/dev/null", nil), "cannot write DIR: it is not a regular file")
	socket := func(name string) error {
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: name})
		if err == nil {
			l.SetUnlinkOnClose(false)
			err = l.Close()
		}
		return err
	}
	for _, test := range []struct {
		become func(name string) error
		late   string
	}{
		{func(name string) error { return syscall.Mkfifo(name, 0o600) }, "it is not a regular file"},
		{func(name string) error { return os.Mkdir(name, 0o700) }, "is a directory"},
		{socket, "no such device or address"},
		{func(name string) error { return os.Symlink("other", name) }, "it is a symbolic link"},
	} {
		dir, err := os.MkdirTemp("", "lumi") // the names of sockets must be short
		must(t, err)
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		path := filepath.Join(dir, "graph.json")
		d := &faulty{after: func(o op) {
			if o.name == "look" {
				must(t, os.Remove(path))
				must(t, test.become(path))
			}
		}}
		mustWrite(t, path, "old")
		wantError(t, dir, write(d, path, Bytes(nil), 0o600), "cannot write DIR/graph.json, which is unchanged: "+test.late)
		if test.late != "it is a symbolic link" {
			wantError(t, dir, Write(path, nil), "cannot write DIR/graph.json: it is not a regular file")
		}
		wantNames(t, dir, "graph.json")
	}
}

func TestUmask(t *testing.T) {
	path := filepath.Join(t.TempDir(), "graph.json")
	defer syscall.Umask(syscall.Umask(0o027))
	must(t, Write(path, []byte("one")))
	wantMode(t, path, 0o640)
	must(t, os.Chmod(path, 0o606))
	syscall.Umask(0o777)
	must(t, Write(path, []byte("two")))
	wantMode(t, path, 0o606)
}
