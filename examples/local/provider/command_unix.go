//go:build unix

package local

import (
	"os/exec"
	"syscall"
)

var shell = []string{"/bin/sh", "-c"}

// ownGroup has a command and all that it starts end together when its context does: first they are asked to.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
}

// killGroup ends what did not stop when it was asked to.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
