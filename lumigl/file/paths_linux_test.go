package file

import (
	"context"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestLongNames saves files whose names are as long as the file system allows, or almost.
func TestLongNames(t *testing.T) {
	for _, name := range []string{
		strings.Repeat("x", 100), strings.Repeat("x", 101), strings.Repeat("x", 248), "x" + strings.Repeat("ä", 123),
		strings.Repeat("\xff", 248),
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		mustSave(t, path, snapshot(t, 1, "one"))
		mustSave(t, path, snapshot(t, 1, "two"))
		wantNames(t, dir, name, name+".backup", name+".lock")
		// What a writer leaves behind that was killed, another one clears away, but not that of a name that begins alike.
		mine, theirs := temporary(path, stagedSuffix), temporary(path[:len(path)-1]+"y", stagedSuffix)
		mustWrite(t, mine, "x")
		mustWrite(t, theirs, "x")
		must(t, open(t, path, nil).Close())
		wantNames(t, dir, filepath.Base(theirs), name, name+".backup", name+".lock")
	}
	dir := t.TempDir()
	name := strings.Repeat("x", 249)
	_, err := Open(context.Background(), filepath.Join(dir, name), Options{})
	wantError(t, dir, err, "cannot open DIR/"+name+
		": its name is so long that there is no room for .backup behind it: give it a shorter one")
	wantNames(t, dir)
	name = strings.Repeat("x", 255)
	must(t, WriteAtomic(filepath.Join(dir, name), []byte("one"))) // There is no backup.
	must(t, WriteAtomic(filepath.Join(dir, name), []byte("two")))
	wantNames(t, dir, name)
	wantError(t, dir, WriteAtomic(filepath.Join(dir, name+"x"), nil), "cannot write DIR/"+name+"x: file name too long")
	wantError(t, dir, WriteNew(filepath.Join(dir, "x", "y"), nil, 0o600), "cannot write DIR/x/y: no such file or directory")
	_, err = Open(context.Background(), filepath.Join(dir, name+"x"), Options{})
	wantError(t, dir, err, "cannot open DIR/"+name+"x: file name too long")
}

// TestParents holds that .. is the folder that the system takes it for, and that folders are found behind links.
func TestParents(t *testing.T) {
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "real", "sub"), 0o755))
	must(t, os.Symlink(filepath.Join("real", "sub"), filepath.Join(dir, "link")))
	t.Chdir(dir)
	for path, at := range map[string]string{
		"link/../a.json": "real", "link/b.json": "real/sub", dir + "/link/../c.json": "real", "real/sub/../../d.json": ".",
		"./e.json": ".", "link/.//../../f.json": ".",
	} {
		mustSave(t, path, snapshot(t, 1, "one"))
		mustSave(t, path, snapshot(t, 1, "two"))
		for _, suffix := range []string{"", backupSuffix, lockSuffix} {
			if _, err := os.Lstat(filepath.Join(at, filepath.Base(path)+suffix)); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
		if s, _, err := Load(path); err != nil || word(t, s) != "two" {
			t.Errorf("%s: %v", path, err)
		}
	}
	wantNames(t, "real/sub", "b.json", "b.json.backup", "b.json.lock")
	mustWrite(t, "real/b", "x")
	must(t, os.Symlink("loop", "loop"))
	for path, want := range map[string]string{
		"no/../a.json": "cannot write no/../a.json: no such file or directory",
		"no/":          "cannot write no/: no such file or directory",
		"..":           "cannot write ..: it is not a regular file",
		"real/b/c":     "cannot write real/b/c: not a directory",
		"loop":         "cannot write loop: it is a symbolic link that leads to itself",
	} {
		wantError(t, dir, WriteAtomic(path, nil), want)
	}
}

// TestRenamedFolder gives another name to the folder in which a file is being written.
func TestRenamedFolder(t *testing.T) {
	dir := t.TempDir()
	before, after := filepath.Join(dir, "before"), filepath.Join(dir, "after")
	must(t, os.Mkdir(before, 0o755))
	t.Chdir(before)
	l := open(t, "prod.json", nil)
	must(t, os.Rename(before, after))
	_, err := l.Save(snapshot(t, 1, "one"), Version{})
	must(t, err)
	wantNames(t, after, "prod.json", "prod.json.lock")
}

// irregular makes what is no regular file.
var irregular = map[string]func(name string) error{
	"pipe":   func(name string) error { return syscall.Mkfifo(name, 0o600) },
	"folder": func(name string) error { return os.Mkdir(name, 0o700) },
	"socket": func(name string) error {
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: name})
		if err == nil {
			l.SetUnlinkOnClose(false)
			err = l.Close()
		}
		return err
	},
}

// TestIrregular holds that nothing hangs at, or replaces, what is no regular file, even where one was a moment ago.
func TestIrregular(t *testing.T) {
	const device = "/dev/null"
	wantError(t, device, WriteAtomic(device, nil), "cannot write DIR: it is not a regular file")
	_, _, err := Load(device)
	wantError(t, device, err, "cannot open DIR: it is not a regular file")
	later := map[string]struct{ save, load string }{
		"pipe":   {"it is not a regular file", "it is not a regular file"},
		"folder": {"is a directory", "it is not a regular file"},
		"socket": {"no such device or address", "no such device or address"},
	}
	for kind, become := range irregular {
		dir, err := os.MkdirTemp("", "lumi") // The name of a socket must be short.
		must(t, err)
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		path := filepath.Join(dir, "prod.json")
		must(t, become(path))
		_, err = Open(context.Background(), path, Options{})
		wantError(t, dir, err, "cannot open DIR/prod.json: it is not a regular file")
		_, _, err = Load(path)
		wantError(t, dir, err, "cannot open DIR/prod.json: it is not a regular file")
		wantError(t, dir, WriteAtomic(path, nil), "cannot write DIR/prod.json: it is not a regular file")
		wantNames(t, dir, "prod.json")

		must(t, os.Remove(path))
		v := mustSave(t, path, snapshot(t, 1, "one"))
		l := open(t, path, nil)
		must(t, os.Remove(path))
		must(t, become(path))
		_, err = l.Save(snapshot(t, 1, "two"), v)
		wantError(t, dir, err, "cannot save DIR/prod.json, which stays as it was: "+later[kind].save)
		_, _, err = l.Load()
		wantError(t, dir, err, "cannot read DIR/prod.json: "+later[kind].load)
		must(t, l.Close())
		wantNames(t, dir, "prod.json", "prod.json.lock")
	}
}

// TestBecomesLink puts a link into the place of a file that is being written. What it leads to is left alone.
func TestBecomesLink(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "prod.json"), filepath.Join(dir, "other.json")
	v := mustSave(t, path, snapshot(t, 1, "one"))
	l := open(t, path, nil)
	must(t, os.Rename(path, other))
	must(t, os.Symlink("other.json", path))
	_, err := l.Save(snapshot(t, 1, "two"), v)
	wantError(t, dir, err, "cannot save DIR/prod.json, which stays as it was: it is a symbolic link")
	_, _, err = l.Load()
	wantError(t, dir, err, "cannot read DIR/prod.json: it is a symbolic link")
	wantNames(t, dir, "other.json", "prod.json", "prod.json.lock")
}

// TestIrregularLock has what cannot be a lock file stand where it should be.
func TestIrregularLock(t *testing.T) {
	want := map[string]string{
		"pipe": "it is not a regular file", "folder": "is a directory", "socket": "no such device or address",
		"link": "it is a symbolic link", "link that leads nowhere": "it is a symbolic link",
	}
	irregular := maps.Clone(irregular)
	irregular["link"] = func(name string) error { return os.Symlink("prod.json", name) }
	irregular["link that leads nowhere"] = func(name string) error { return os.Symlink("nowhere", name) }
	for kind, become := range irregular {
		dir, err := os.MkdirTemp("", "lumi") // The name of a socket must be short.
		must(t, err)
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		path := filepath.Join(dir, "prod.json")
		mustWrite(t, path, `{"resources": {}}`)
		must(t, become(path+lockSuffix))
		_, err = Open(context.Background(), path, Options{})
		wantError(t, dir, err, "cannot lock DIR/prod.json: DIR/prod.json.lock: "+want[kind])
		if got := mustRead(t, path); got != `{"resources": {}}` {
			t.Errorf("%s: there is %q", kind, got)
		}
		wantNames(t, dir, "prod.json", "prod.json.lock")
	}
}

// TestUmask holds that the mask counts for new files only.
func TestUmask(t *testing.T) {
	dir := t.TempDir()
	path, graph := filepath.Join(dir, "prod.json"), filepath.Join(dir, "graph.json")
	mask := syscall.Umask(0o027)
	defer syscall.Umask(mask)
	mustSave(t, path, snapshot(t, 1, "one"))
	must(t, WriteAtomic(graph, []byte("one")))
	wantModes(t, map[string]os.FileMode{path: 0o600, path + lockSuffix: 0o600, graph: 0o640})
	must(t, os.Chmod(path, 0o666))
	must(t, os.Chmod(graph, 0o606))
	syscall.Umask(0o777)
	mustSave(t, path, snapshot(t, 1, "two"))
	must(t, WriteAtomic(graph, []byte("two")))
	wantModes(t, map[string]os.FileMode{
		path: 0o666, path + backupSuffix: 0o666, path + lockSuffix: 0o666, graph: 0o606,
	})
}

func wantModes(t *testing.T, want map[string]os.FileMode) {
	t.Helper()
	for name, mode := range want {
		info, err := os.Stat(name)
		must(t, err)
		if info.Mode() != mode {
			t.Errorf("%s has the mode %v, want %v", filepath.Base(name), info.Mode(), mode)
		}
	}
}
