//go:build unix

package local

import (
	"os/exec"
	"syscall"
)

var shell = []string{"/bin/sh", "-c"}

// ownGroup starts a command in its own process group. When the context is done, the group is asked to stop.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
}

// killGroup kills the remaining processes of the group.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
