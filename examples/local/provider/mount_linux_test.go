package local_test

import (
	"syscall"
	"testing"

	"github.com/lumi-idl/lumi/test/kit/must"
)

// mountSmall mounts a file system of 64 KiB at dir until the end of the test. The returned function makes it read-only or
// writable. mountSmall skips the test if mounting fails.
func mountSmall(t *testing.T, dir string) (readOnly func(bool)) {
	t.Helper()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("cannot mount a file system: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return func(on bool) {
		flags := uintptr(syscall.MS_REMOUNT)
		if on {
			flags |= syscall.MS_RDONLY
		}
		must.Do(t, syscall.Mount("tmpfs", dir, "tmpfs", flags, "size=64k"))
	}
}
