package plugin

import (
	"os/exec"
	"syscall"
)

// ownGroup configures cmd to run in its own process group, and to be killed by the kernel when the thread that starts it
// exits. That thread must therefore live until the process exits or this process dies. Package serve replaces the signal with
// SIGCONT once it can detect its parent's death.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
