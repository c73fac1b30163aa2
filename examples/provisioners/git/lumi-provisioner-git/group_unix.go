//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// ownGroup has a command and all that it starts, such as ssh, end together. Without a terminal, ssh cannot ask for anything.
// What serves a repository on this machine is part of that: terminated, git removes its locks; killed, it would leave them.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
}
