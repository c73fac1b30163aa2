package serve

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/lumi-idl/lumi/runtime/lumirpc"
)

// Package plugin sets a parent-death signal, which the kernel stores for the main thread. Locking the main goroutine to that
// thread allows wakeWithoutParent to change it.
func init() {
	if os.Getenv(lumirpc.SecretVariable) != "" {
		runtime.LockOSThread()
	}
}

// wakeWithoutParent replaces the parent-death signal SIGKILL with SIGCONT. From then on, EOF on standard input reports the
// parent's death, so that calls in flight can end gracefully. SIGCONT wakes a stopped process, so that it sees the EOF.
// Call wakeWithoutParent in the main goroutine.
func wakeWithoutParent() {
	_ = unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGCONT), 0, 0, 0) // On failure, the signal remains SIGKILL.
	runtime.UnlockOSThread()
}
