package run_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// namespaceVariable is set in processes that have their own mount namespace.
const namespaceVariable = "LUMI_CRASH_NAMESPACE"

// mayMount reports whether the test may mount file systems. If not, it runs the test again in a process that may.
func mayMount(t *testing.T) bool {
	t.Helper()
	if os.Getenv(namespaceVariable) != "" {
		return true
	}
	self := must.Get(os.Executable())(t)
	c := exec.CommandContext(t.Context(), self, "-test.run=^"+t.Name()+"$", "-test.v")
	c.Env = append(os.Environ(), namespaceVariable+"=1")
	c.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	out, err := c.CombinedOutput()
	switch {
	case errors.Is(err, os.ErrPermission):
		t.Skipf("no user namespaces: %v", err)
	case err != nil:
		t.Errorf("test in a new namespace: %v\n%s", err, out)
	case strings.Contains(string(out), "SKIP: "):
		t.Skipf("%s", out)
	}
	return false
}

// mount moves the database to a small file system of its own.
func (s *site) mount() {
	s.t.Helper()
	text, err := os.ReadFile(s.db())
	s.must(err)
	if err := unix.Mount("tmpfs", filepath.Dir(s.db()), "tmpfs", 0, "size=1m"); err != nil {
		s.t.Skipf("mount: %v", err)
	}
	s.t.Cleanup(func() { s.must(unix.Unmount(filepath.Dir(s.db()), 0)) })
	s.must(os.WriteFile(s.db(), text, 0o600))
	s.adopt()
}

// fails runs the deployment, which must fail with the given database error.
func (s *site) fails(problem string) {
	s.t.Helper()
	d, err := s.drive(s.t.Context(), s.here())
	if got := fmt.Sprint(d.State, d.Message, err); !strings.Contains(got, s.db()+" "+problem) {
		s.t.Errorf("deployment ended with %s, want %s", got, problem)
	}
}

func TestDiskFull(t *testing.T) {
	t.Parallel()
	if !mayMount(t) {
		return
	}
	for _, before := range []string{"Create a", "Create b"} {
		s := newSite(t, "Net/a\nDisk/b on=[@a]")
		s.mount()
		s.dead = true
		filler := filepath.Join(filepath.Dir(s.db()), "filler")
		s.Before, s.hook = before, func() {
			s.Before = ""
			if err := os.WriteFile(filler, make([]byte, 1<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("filling the disk: error %v, want ENOSPC", err)
			}
		}
		s.fails("cannot grow: the disk is full; free some space and try again (database or disk is full (13))")
		if before == "Create b" { // The result of a fits, but not the intent of b.
			s.deadline() // checks that the intent is stored
		}
		s.must(os.Remove(filler))
		s.expire()
		s.finish()
		s.hasAll(2)
	}
}

func TestReadOnlyDisk(t *testing.T) {
	t.Parallel()
	if !mayMount(t) {
		return
	}
	s := newSite(t, "Net/a\nDisk/b on=[@a]")
	s.mount()
	s.killed(&childJob{Folder: s.Folder, Number: 1, Before: "Create b", Signal: syscall.SIGKILL})
	s.expire()
	s.must(s.close())
	s.must(unix.Mount("", filepath.Dir(s.db()), "", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	_, err := s.open(t.Context())
	want := s.db() + " cannot be written: make the file and its folder writable (unable to open database file (14))"
	if err == nil || err.Error() != want {
		t.Errorf("Open error = %v, want %s", err, want)
	}
	s.must(unix.Mount("", filepath.Dir(s.db()), "", unix.MS_REMOUNT, ""))
	s.finish()
	s.hasAll(2)
}

func TestDatabaseTruncated(t *testing.T) {
	t.Parallel()
	s := newSite(t, "Net/a\nDisk/b on=[@a]")
	s.dead = true
	var backup []byte
	s.Before, s.hook = "Create b", func() { backup = s.backup() }
	s.finish()
	want := s.ending()
	s.must(s.close())
	s.must(os.Truncate(s.db(), 20_000))
	_, err := s.open(t.Context())
	message := s.db() + " is damaged: restore a backup (database disk image is malformed (11))"
	if err == nil || err.Error() != message {
		t.Errorf("Open error = %v, want %s", err, message)
	}
	s.must(os.WriteFile(s.db(), backup, 0o600))
	s.adopt()
	s.hook = func() {}
	s.expire()
	s.finish()
	expect.Equal(t, want, s.ending())
}
