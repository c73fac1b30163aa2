//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// ownGroup makes a command and its child processes, such as ssh, end together. Without a terminal, ssh cannot prompt. A
// local server process is part of the group: git removes its locks when terminated, but not when killed.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
}
