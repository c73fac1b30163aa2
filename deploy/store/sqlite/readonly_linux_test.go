package sqlite_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/lumi-idl/lumi/deploy/store/sqlite"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// obey makes file modes apply even to root for the rest of a test.
func obey(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		return
	}
	runtime.LockOSThread()
	if err := unix.Setfsuid(65534); err != nil {
		t.Skipf("cannot drop root's file access: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Setfsuid(0); err == nil {
			runtime.UnlockOSThread() // otherwise, keep the thread locked, so that it ends with the test
		}
	})
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	must.Do(t, os.Chmod(path, mode))
}

func TestReadOnlyFile(t *testing.T) {
	t.Parallel()
	path := database(t)
	chmod(t, filepath.Dir(filepath.Dir(path)), 0o755)
	chmod(t, path, 0o444)
	chmod(t, filepath.Dir(path), 0o777)
	obey(t)
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err == nil {
		defer s.Close()
		err = s.Write(t.Context(), "dev", putEnvironment)
	}
	wantError(t, err, path+" cannot be written: make the file and its folder writable (attempt to write a readonly database (8))")
}

func TestReadOnlyFolder(t *testing.T) {
	t.Parallel()
	path := database(t)
	chmod(t, filepath.Dir(filepath.Dir(path)), 0o755)
	folder := filepath.Dir(path)
	chmod(t, path, 0o666)
	chmod(t, folder, 0o555)
	t.Cleanup(func() { _ = os.Chmod(folder, 0o700) })
	obey(t)
	wantError(t, openError(t, path, sqlite.Options{}),
		path+" cannot be written: make the file and its folder writable (attempt to write a readonly database (1544))")
	other := filepath.Join(folder, "other.db")
	wantError(t, openError(t, other, sqlite.Options{}), "open "+other+": permission denied")
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	path := database(t)
	chmod(t, filepath.Dir(filepath.Dir(path)), 0o755)
	chmod(t, path, 0)
	obey(t)
	wantError(t, openError(t, path, sqlite.Options{}),
		path+" cannot be written: make the file and its folder writable (unable to open database file (14))")
}
