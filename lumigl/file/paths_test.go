package file

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestLinks(t *testing.T) {
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "real"), 0o755))
	must(t, os.MkdirAll(filepath.Join(dir, "links"), 0o755))
	real, link := filepath.Join(dir, "real", "prod.json"), filepath.Join(dir, "links", "p.json")
	mustSave(t, real, snapshot(t, 1, "one"))
	if err := os.Symlink(filepath.Join("..", "real", "prod.json"), link); err != nil {
		t.Skip(err)
	}
	l := open(t, real, nil)
	_, err := Open(context.Background(), link, Options{})
	wantError(t, dir, err, "DIR/links/p.json is locked by ME: wait until it is done")
	must(t, l.Close())
	mustSave(t, link, snapshot(t, 1, "two"))
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info.Mode(), err)
	}
	wantNames(t, filepath.Join(dir, "links"), "p.json")
	wantNames(t, filepath.Join(dir, "real"), "prod.json", "prod.json.backup", "prod.json.lock")
	must(t, WriteAtomic(link, []byte("{}")))
	if mustRead(t, real) != "{}" {
		t.Error("WriteAtomic does not follow the link")
	}
	must(t, os.Remove(real))
	_, err = Open(context.Background(), link, Options{})
	wantError(t, dir, err, "cannot open DIR/links/p.json: it is a symbolic link that leads nowhere")
	wantError(t, dir, WriteAtomic(link, nil), "cannot write DIR/links/p.json: it is a symbolic link that leads nowhere")
}

func TestPaths(t *testing.T) {
	dir := t.TempDir()
	_, err := Open(context.Background(), filepath.Join(dir, "no", "prod.json"), Options{})
	wantError(t, dir, err, "cannot open DIR/no/prod.json: no such file or directory")
	_, err = Open(context.Background(), dir, Options{})
	wantError(t, dir, err, "cannot open DIR: it is not a regular file")
	_, _, err = Load(dir)
	wantError(t, dir, err, "cannot open DIR: it is not a regular file")
	wantError(t, dir, WriteAtomic(dir, nil), "cannot write DIR: it is not a regular file")
	_, err = Open(context.Background(), "", Options{})
	wantError(t, dir, err, "cannot open : the path is empty")
	if s, v, err := Load(filepath.Join(dir, "no", "prod.json")); s != nil || v.Exists() || err != nil {
		t.Errorf("in a folder that is not there: %v, %v, %v", s, v, err)
	}
	path := filepath.Join(dir, "prod.json")
	must(t, os.Mkdir(path+".backup", 0o755))
	mustSave(t, path, snapshot(t, 1, "one"))
	_, err = save(path, snapshot(t, 1, "two"), nil)
	wantError(t, dir, err, "cannot keep DIR/prod.json as DIR/prod.json.backup, so it was not saved: file exists")
	if s, _, err := Load(path); err != nil || word(t, s) != "one" {
		t.Errorf("the old file is %v, %v", s, err)
	}
	wantNames(t, dir, "prod.json", "prod.json.backup", "prod.json.lock")
}

// TestMoved has the process go to another folder while it writes a file that it has named from the first.
func TestMoved(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	t.Chdir(dir)
	l := open(t, "prod.json", nil)
	t.Chdir(other)
	v, err := l.Save(snapshot(t, 1, "one"), Version{})
	must(t, err)
	if s, loaded, err := l.Load(); err != nil || loaded != v || word(t, s) != "one" {
		t.Errorf("loaded %v, %v", loaded, err)
	}
	_, err = l.Save(snapshot(t, 1, "two"), v)
	must(t, err)
	must(t, l.Close())
	wantNames(t, dir, "prod.json", "prod.json.backup", "prod.json.lock")
	wantNames(t, other)
	// Messages name it as the caller did.
	_, err = l.Save(snapshot(t, 1, "three"), v)
	wantError(t, dir, err, "cannot save prod.json: file already closed")
	// An absolute one has always been that of one file.
	absolute := filepath.Join(dir, "absolute.json")
	l = open(t, absolute, nil)
	t.Chdir(dir)
	_, err = l.Save(snapshot(t, 1, "one"), Version{})
	must(t, err)
	must(t, l.Close())
	mustSave(t, absolute, snapshot(t, 1, "two"))
}

// TestHardLinks holds that a file's other names keep the snapshot that they had.
func TestHardLinks(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "prod.json"), filepath.Join(dir, "other.json")
	mustSave(t, path, snapshot(t, 1, "one"))
	if err := os.Link(path, other); err != nil {
		t.Skip(err)
	}
	mustSave(t, path, snapshot(t, 1, "two"))
	mustSave(t, path, snapshot(t, 1, "three"))
	for name, want := range map[string]string{path: "three", path + backupSuffix: "two", other: "one"} {
		if s, _, err := Load(name); err != nil || word(t, s) != want {
			t.Errorf("%s is %v, want %s", name, err, want)
		}
	}
}

// TestLockPath follows a link to the file that is locked.
func TestLockPath(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "graph.json"), filepath.Join(dir, "link.json")
	mustWrite(t, path, "new")
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	target, err := filepath.EvalSymlinks(path)
	must(t, err)
	if got, err := LockPath(link); err != nil || got != target+".lock" {
		t.Errorf("the path of the lock is %s, %v", got, err)
	}
	if _, err := LockPath(""); err == nil || err.Error() != "cannot use : the path is empty" {
		t.Error(err)
	}
}

// TestPrivate holds that a new file is for its owner only, and that the mode of an old one stays.
func TestPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such modes")
	}
	path := filepath.Join(t.TempDir(), "snapshot.json")
	for _, mode := range []os.FileMode{0o600, 0o644} {
		must(t, WriteMode(path, []byte(mode.String()), 0o600))
		if info, err := os.Stat(path); err != nil || info.Mode() != mode {
			t.Errorf("%v, %v, want %v", info.Mode(), err, mode)
		}
		must(t, os.Chmod(path, 0o644))
	}
}
