package serve

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/lumi-idl/lumi/runtime/lumirpc"
)

// The kernel keeps the signal for the death of the parent by thread, and the one from package plugin is the main thread's.
func init() {
	if os.Getenv(lumirpc.SecretVariable) != "" {
		runtime.LockOSThread()
	}
}

// wakeWithoutParent replaces the signal that kills this process when its parent dies, since standard input says that from
// now on, and calls can end in good order. A stopped process has to be woken up for that. Outside of the main goroutine
// nothing changes.
func wakeWithoutParent() {
	_ = unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGCONT), 0, 0, 0) // Where it fails, the process is killed.
	runtime.UnlockOSThread()
}
