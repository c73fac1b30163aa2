package serve

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/lumi-idl/lumi/runtime/lumirpc"
)

// The kernel stores the parent-death signal per thread, and package plugin sets it for the main thread.
func init() {
	if os.Getenv(lumirpc.SecretVariable) != "" {
		runtime.LockOSThread()
	}
}

// wakeWithoutParent replaces the signal that kills this process when its parent dies. From now on, standard input
// reports the parent's death, and calls can end gracefully. A stopped process must be woken up for that. The call has
// no effect outside the main goroutine.
func wakeWithoutParent() {
	_ = unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGCONT), 0, 0, 0) // If it fails, the process is killed.
	runtime.UnlockOSThread()
}
