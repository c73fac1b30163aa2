//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// ownGroup has a command and all that it starts, such as ssh, end together. Without a terminal, ssh cannot ask for anything.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
