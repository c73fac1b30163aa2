package atomicfile

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSmallDisk uses a file system that only the child can see.
func TestSmallDisk(t *testing.T) {
	dir := t.TempDir()
	cmd := command(t, job{Do: "small", Path: filepath.Join(dir, "graph.json"), Text: "old"})
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if err != nil && len(out) == 0 || strings.HasPrefix(string(out), "no disk: ") {
		t.Skipf("cannot mount a file system: %v %s", err, out)
	}
	const want = `cannot write DIR/graph.json, which is unchanged: no space left on device
old <nil> 1
cannot write DIR/graph.json, which is unchanged: read-only file system
old <nil> 1
`
	if diff := cmp.Diff(want, strings.ReplaceAll(string(out), dir, "DIR")); diff != "" || err != nil {
		t.Errorf("child: error %v, output (-want +got):\n%s", err, diff)
	}
}

// wantOutput runs a child whose write must fail, and compares its output. The file must be unchanged.
func wantOutput(t *testing.T, dir string, cmd *exec.Cmd, want string) {
	t.Helper()
	out, err := cmd.Output()
	if err == nil {
		t.Error("child succeeded, want an error")
	}
	if got := strings.ReplaceAll(strings.TrimSpace(string(out)), dir, "DIR"); got != want {
		t.Errorf("child printed %q, want %q", got, want)
	}
	wantNames(t, dir, "graph.json")
	if got := mustRead(t, filepath.Join(dir, "graph.json")); got != "old" {
		t.Errorf("content = %q, want old", got)
	}
}

func TestFileSizeLimit(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell to set the limit")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "graph.json")
	mustWrite(t, path, "old")
	cmd := command(t, job{Do: "write", Path: path, Text: strings.Repeat("x", 20<<10)})
	cmd.Args = []string{sh, "-c", `ulimit -f 16; exec "$0"`, cmd.Path}
	cmd.Path = sh
	wantOutput(t, dir, cmd, "cannot write DIR/graph.json, which is unchanged: file too large")
}

// unprivileged is the ID of a user without privileges.
const unprivileged = 65534

// folder creates a folder with the given mode that other users can reach.
func folder(t *testing.T, mode os.FileMode) string {
	t.Helper()
	dir := t.TempDir()
	must(t, os.Chmod(filepath.Dir(dir), 0o755))
	must(t, os.Chmod(dir, mode))
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	return dir
}

// other returns the ID of another user if this process may switch users, and 0 otherwise.
func other() int {
	if os.Getuid() == 0 {
		return unprivileged
	}
	return 0
}

// A write changes neither a read-only folder nor a read-only file in a writable folder.
func TestReadOnlyUnchanged(t *testing.T) {
	for _, modes := range [][2]os.FileMode{{0o555, 0o666}, {0o777, 0o444}} {
		dir := folder(t, 0o777)
		path := filepath.Join(dir, "graph.json")
		mustWrite(t, path, "old")
		must(t, os.Chmod(path, modes[1]))
		must(t, os.Chmod(dir, modes[0]))
		wantOutput(t, dir, command(t, job{Do: "write", Path: path, Text: "new", User: other()}),
			"cannot write DIR/graph.json, which is unchanged: permission denied")
	}
}

// Replacing a file never gives anyone more access to it.
func TestOwnerAndMode(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can change the owner of a file")
	}
	for _, test := range []struct {
		name                string
		user, group         int
		mode                os.FileMode
		writer              int
		wantUser, wantGroup int
		want                os.FileMode
	}{
		{"root keeps the owner", 1234, 4321, 0o640, 0, 1234, 4321, 0o640},
		{"user keeps the mode", unprivileged, unprivileged, 0o664, unprivileged, unprivileged, unprivileged, 0o664},
		{"user outside the group", unprivileged, 4321, 0o660, unprivileged, unprivileged, unprivileged, 0o600},
		{"user with the permissions of others", 1234, 4321, 0o646, unprivileged, unprivileged, unprivileged, 0o646},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(folder(t, 0o777), "graph.json")
			mustWrite(t, path, "old")
			must(t, os.Chown(path, test.user, test.group))
			must(t, os.Chmod(path, test.mode))
			if printed, _ := run(t, job{Do: "write", Path: path, Text: "new", User: test.writer}); printed != "" {
				t.Fatalf("child printed %s, want nothing", printed)
			}
			info, err := os.Stat(path)
			must(t, err)
			user, group, _ := owner(info)
			if user != test.wantUser || group != test.wantGroup || info.Mode() != test.want {
				t.Errorf("user = %d, group = %d, mode = %v, want %d, %d, %v", user, group, info.Mode(), test.wantUser, test.wantGroup, test.want)
			}
		})
	}
}

// TestSyncRefused makes every sync fail in the kernel, which proves that files are synced.
func TestSyncRefused(t *testing.T) {
	const unsaved = "cannot write DIR/graph.json, which is unchanged: "
	for _, test := range []struct {
		errno syscall.Errno
		want  string
	}{
		{syscall.EIO, "sync DIR: input/output error\n" + unsaved + "input/output error\n"},
		// Some file systems cannot sync folders.
		{syscall.EINVAL, "<nil>\n" + unsaved + "invalid argument\n"},
		{syscall.ENOTSUP, "<nil>\n" + unsaved + "operation not supported\n"},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "graph.json")
		mustWrite(t, path, "old")
		printed, _ := run(t, job{Do: "refuse", Path: path, Text: "new", Fault: fault{Errno: test.errno}})
		if strings.HasPrefix(printed, "no filter: ") {
			t.Skip(printed)
		}
		if diff := cmp.Diff(test.want, strings.ReplaceAll(printed, dir, "DIR")); diff != "" {
			t.Errorf("child output (-want +got):\n%s", diff)
		}
		if got := mustRead(t, path); got != "old" {
			t.Errorf("content = %q, want old", got)
		}
		wantNames(t, dir, "graph.json")
	}
}

func TestFilesClosed(t *testing.T) {
	dir := t.TempDir()
	before := len(names(t, "/proc/self/fd"))
	for range 3 {
		must(t, Write(filepath.Join(dir, "graph.json"), []byte("one")))
		if f, _, err := openRegular(system{}, dir, os.O_RDONLY); err == nil {
			t.Errorf("openRegular of a folder = %v, want an error", f)
		}
	}
	if after := len(names(t, "/proc/self/fd")); after != before {
		t.Errorf("%d files are open before and %d after", before, after)
	}
}
