package plugin

import (
	"os/exec"
	"syscall"
)

// dieWithParent has the kernel kill the process when the thread that starts it ends, as all do when this process ends. The
// thread must live as long as the process. Package serve asks for SIGCONT instead once it notices the end of its parent.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
