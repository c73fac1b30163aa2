package plugin

import (
	"os/exec"
	"syscall"
)

// ownGroup puts the process into a group of its own, with those that it starts, and has the kernel kill it when the thread
// that starts it ends, as all do when this process ends. The thread must live as long as the process. Package serve asks for
// SIGCONT instead once it notices the end of its parent.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
