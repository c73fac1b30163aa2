package file

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSmallDisk saves to a disk that is full, and then to one that is read-only: a file system of its own, which only
// the child sees.
func TestSmallDisk(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "prod.json")
	cmd := command(t, job{Do: "small", Path: path, Word: "old"})
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if err != nil && len(out) == 0 || strings.HasPrefix(string(out), "no disk: ") {
		t.Skipf("this system lets nobody mount: %v %s", err, out)
	}
	want := `cannot save DIR/prod.json, which stays as it was: no space left on device
cannot write DIR/prod.json, which stays as it was: no space left on device
10 1 2
cannot lock DIR/prod.json: DIR/prod.json.lock: read-only file system
cannot write DIR/prod.json, which stays as it was: read-only file system
10 1 2
`
	if diff := cmp.Diff(want, strings.ReplaceAll(string(out), dir, "DIR")); diff != "" || err != nil {
		t.Errorf("%v, the child says (-want +got):\n%s", err, diff)
	}
}

// TestFileSizeLimit runs into a limit that fails a write in its middle, as a full disk does.
func TestFileSizeLimit(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no shell to set the limit")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "prod.json")
	mustSave(t, path, snapshot(t, 1, "old"))
	before := contents(t, dir)
	for do, want := range map[string]string{
		"save":  "cannot save DIR/prod.json, which stays as it was: file too large",
		"write": "cannot write DIR/prod.json, which stays as it was: file too large",
	} {
		cmd := command(t, job{Do: do, Path: path, Word: strings.Repeat("x", 20<<10)})
		cmd.Args = []string{sh, "-c", `ulimit -f 16; exec "$0"`, cmd.Path}
		cmd.Path = sh
		out, err := cmd.Output()
		if err == nil {
			t.Fatal("the child found no limit")
		}
		if got := strings.ReplaceAll(strings.TrimSpace(string(out)), dir, "DIR"); got != want {
			t.Errorf("the child says %q, want %q", got, want)
		}
		if diff := cmp.Diff(before, contents(t, dir)); diff != "" {
			t.Errorf("files (-before +after):\n%s", diff)
		}
	}
}

// nobody is a user that has nothing.
const nobody = 65534

// folder makes a folder that other users can get to.
func folder(t *testing.T, mode os.FileMode) string {
	t.Helper()
	dir := t.TempDir()
	must(t, os.Chmod(filepath.Dir(dir), 0o755))
	must(t, os.Chmod(dir, mode))
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	return dir
}

// other is another user if we may become one, and we ourselves if we may not.
func other() int {
	if os.Getuid() == 0 {
		return nobody
	}
	return 0
}

// TestReadOnlyFolder saves where nothing may be written.
func TestReadOnlyFolder(t *testing.T) {
	for _, test := range []struct {
		name string
		lock bool // there is a lock file that may be locked
		file os.FileMode
		do   string
		want string
	}{
		{"no lock file", false, 0o666, "save", "cannot lock DIR/prod.json: DIR/prod.json.lock: permission denied"},
		{"lock file", true, 0o666, "save", "cannot save DIR/prod.json, which stays as it was: permission denied"},
		{"no lock wanted", false, 0o666, "write", "cannot write DIR/prod.json, which stays as it was: permission denied"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := folder(t, 0o755)
			path := filepath.Join(dir, "prod.json")
			mustSave(t, path, snapshot(t, 1, "old"))
			must(t, os.Chmod(path, test.file))
			if test.lock {
				must(t, os.Chmod(path+lockSuffix, 0o666))
			} else {
				must(t, os.Remove(path+lockSuffix))
			}
			before := contents(t, dir)
			must(t, os.Chmod(dir, 0o555))
			printed, _ := run(t, job{Do: test.do, Path: path, Word: "new", User: other()})
			if got := strings.ReplaceAll(printed, dir, "DIR"); got != test.want {
				t.Errorf("the child says %q, want %q", got, test.want)
			}
			if diff := cmp.Diff(before, contents(t, dir)); diff != "" {
				t.Errorf("files (-before +after):\n%s", diff)
			}
		})
	}
}

// TestReadOnlyFile holds that a file that may not be written is not replaced either, though the folder would allow it.
func TestReadOnlyFile(t *testing.T) {
	dir := folder(t, 0o777)
	path := filepath.Join(dir, "prod.json")
	mustWrite(t, path, `{"resources": {}}`)
	must(t, os.Chmod(path, 0o444))
	for do, want := range map[string]string{
		"save":  "cannot save DIR/prod.json, which stays as it was: permission denied",
		"write": "cannot write DIR/prod.json, which stays as it was: permission denied",
	} {
		printed, _ := run(t, job{Do: do, Path: path, Word: "new", User: other()})
		if got := strings.ReplaceAll(printed, dir, "DIR"); got != want {
			t.Errorf("the child says %q, want %q", got, want)
		}
	}
	if got := mustRead(t, path); got != `{"resources": {}}` {
		t.Errorf("there is %q", got)
	}
}

// TestOwner holds that nobody gets at a file by its being replaced who did not before.
func TestOwner(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	for _, test := range []struct {
		name             string
		user, group      int
		mode             os.FileMode
		saver            int
		wantUser, wantIn int
		want             os.FileMode
	}{
		{"root keeps the owner", 1234, 4321, 0o640, 0, 1234, 4321, 0o640},
		{"a user keeps the mode", nobody, nobody, 0o664, nobody, nobody, nobody, 0o664},
		{"a user who is not in the group", nobody, 4321, 0o660, nobody, nobody, nobody, 0o640}, // All may read it here.
		{"a user who could do what all can", 1234, 4321, 0o646, nobody, nobody, nobody, 0o646},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := folder(t, 0o777)
			path := filepath.Join(dir, "prod.json")
			mustSave(t, path, snapshot(t, 1, "old"))
			must(t, os.Remove(path+lockSuffix))
			must(t, os.Chown(path, test.user, test.group))
			must(t, os.Chmod(path, test.mode|0o004)) // It is read first.
			if printed, _ := run(t, job{Do: "save", Path: path, Word: "new", User: test.saver}); printed != "" {
				t.Fatalf("the child says %s", printed)
			}
			info, err := os.Stat(path)
			must(t, err)
			user, group, _ := owner(info)
			if user != test.wantUser || group != test.wantIn || info.Mode() != test.want|0o004 {
				t.Errorf("user %d, group %d, mode %v", user, group, info.Mode())
			}
		})
	}
}

// TestLockOwner holds that a user can lock what is theirs after root has.
func TestLockOwner(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	for _, mode := range []os.FileMode{0o600, 0o440} {
		dir := folder(t, 0o777)
		path := filepath.Join(dir, "prod.json")
		mustWrite(t, path, `{"resources": {}}`)
		must(t, os.Chown(path, nobody, 4321))
		must(t, os.Chmod(path, mode))
		mustSave(t, path, snapshot(t, 1, "one"))
		must(t, os.Chmod(path, mode|0o200))
		for _, name := range []string{path, path + backupSuffix, path + lockSuffix} {
			info, err := os.Stat(name)
			must(t, err)
			if user, group, _ := owner(info); user != nobody || group != 4321 {
				t.Errorf("%s is of user %d, group %d", filepath.Base(name), user, group)
			}
		}
		if printed, _ := run(t, job{Do: "save", Path: path, Word: "new", User: nobody}); printed != "" {
			t.Errorf("the child says %s", printed)
		}
	}
}

// TestUnreadableLock has a lock file that is somebody else's.
func TestUnreadableLock(t *testing.T) {
	dir := folder(t, 0o777)
	path := filepath.Join(dir, "prod.json")
	mustSave(t, path, snapshot(t, 1, "old"))
	must(t, os.Chmod(path, 0o666))
	for _, mode := range []os.FileMode{0, 0o444} {
		must(t, os.Chmod(path+lockSuffix, mode))
		printed, _ := run(t, job{Do: "save", Path: path, Word: "new", User: other()})
		want := "cannot lock DIR/prod.json: DIR/prod.json.lock: permission denied"
		if got := strings.ReplaceAll(printed, dir, "DIR"); got != want {
			t.Errorf("mode %v: the child says %q, want %q", mode, got, want)
		}
	}
}

// TestMode holds that new files are for their owner only, and that another mode is kept, for the lock file too.
func TestMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prod.json")
	mode := func(name string) os.FileMode {
		info, err := os.Stat(name)
		must(t, err)
		return info.Mode()
	}
	mustSave(t, path, snapshot(t, 1, "one"))
	if mode(path) != 0o600 || mode(path+lockSuffix) != 0o600 {
		t.Errorf("new: %v, %v", mode(path), mode(path+lockSuffix))
	}
	must(t, os.Chmod(path, 0o660))
	mustSave(t, path, snapshot(t, 1, "two"))
	if mode(path) != 0o660 || mode(path+backupSuffix) != 0o660 || mode(path+lockSuffix) != 0o660 {
		t.Errorf("kept: %v, %v, %v", mode(path), mode(path+backupSuffix), mode(path+lockSuffix))
	}
}

// TestSyncRefused has the system itself fail every sync, which shows that it is asked for them.
func TestSyncRefused(t *testing.T) {
	const unsaved = "cannot write DIR/prod.json, which stays as it was: "
	for _, test := range []struct {
		errno syscall.Errno
		want  string
	}{
		{syscall.EIO, "sync DIR: input/output error\n" + unsaved + "input/output error\n"},
		// Folders cannot be synced everywhere.
		{syscall.EINVAL, "<nil>\n" + unsaved + "invalid argument\n"},
		{syscall.ENOTSUP, "<nil>\n" + unsaved + "operation not supported\n"},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "prod.json")
		mustWrite(t, path, "old")
		printed, _ := run(t, job{Do: "refuse", Path: path, Word: "new", Fault: fault{Errno: test.errno}})
		if strings.HasPrefix(printed, "no filter: ") {
			t.Skip(printed)
		}
		if diff := cmp.Diff(test.want, strings.ReplaceAll(printed, dir, "DIR")); diff != "" {
			t.Errorf("the child says (-want +got):\n%s", diff)
		}
		if got := mustRead(t, path); got != "old" {
			t.Errorf("there is %q", got)
		}
		wantNames(t, dir, "prod.json")
	}
}

// TestHandles holds that no file stays open, whatever happens.
func TestHandles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "prod.json")
	v := mustSave(t, path, snapshot(t, 1, "one"))
	noLink := &faulty{before: func(o op) error {
		if o.name == "link" {
			return syscall.EPERM
		}
		return nil
	}}
	before := handles(t)
	for range 3 {
		l := open(t, path, noLink)
		var err error
		v, err = l.Save(snapshot(t, 1, "two"), v)
		must(t, err)
		_, _, err = l.Load()
		must(t, err)
		if _, err := Open(context.Background(), path, Options{}); err == nil {
			t.Error("it is locked twice")
		}
		must(t, l.Close())
		must(t, WriteAtomic(filepath.Join(dir, "graph.json"), []byte("one")))
		if f, _, err := openRegular(system{}, dir, os.O_RDONLY, 0); err == nil {
			t.Errorf("the folder is opened as %v", f)
		}
	}
	if after := handles(t); after != before {
		t.Errorf("%d files were open, and %d are", before, after)
	}
}

// handles is how many files the process has open. Those that nobody can reach any more count too, until the collector
// closes them.
func handles(t *testing.T) int {
	t.Helper()
	return len(names(t, "/proc/self/fd"))
}

// TestOtherUser holds that the process of another user is known for one, even if that user has no name.
func TestOtherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can become another user")
	}
	dir := folder(t, 0o777)
	path := filepath.Join(dir, "prod.json")
	mustWrite(t, path, `{"resources": {}}`)
	must(t, os.Chmod(path, 0o666))
	open(t, path, nil)
	printed, _ := run(t, job{Do: "save", Path: path, Word: "new", User: nobody})
	wantError(t, dir, errors.New(printed), "DIR/prod.json is locked by ME: wait until it is done")
	t.Setenv("USER", "")
	if printed, _ := run(t, job{Do: "who", User: 54321}); printed != "user 54321" {
		t.Errorf("the child is %q", printed)
	}
}
