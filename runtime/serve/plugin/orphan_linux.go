package plugin

import (
	"os/exec"
	"syscall"
)

// ownGroup puts the process into its own process group. The kernel kills it when the thread that started it exits, as
// all threads do when this process exits; the thread must therefore live as long as the process. Package serve
// replaces the signal with SIGCONT once it can detect the death of its parent.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
