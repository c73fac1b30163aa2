//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// ownGroup starts cmd in its own session, so that its context stops child processes such as ssh, and ssh has no terminal
// for prompts. It uses SIGTERM rather than SIGKILL, so that git removes its locks, including those of a local server
// process.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
}
