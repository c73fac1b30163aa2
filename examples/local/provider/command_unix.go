//go:build unix

package local

import (
	"os/exec"
	"syscall"
)

var shell = []string{"/bin/sh", "-c"}

// ownGroup makes cmd start in its own process group. When the command's context is done, the group receives SIGTERM.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
}

// killGroup kills the remaining processes in the group of cmd.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
