//go:build unix

package main

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup starts a command in its own process group.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// interrupt asks tofu, but not its child processes, to stop.
func interrupt(cmd *exec.Cmd) error { return syscall.Kill(cmd.Process.Pid, syscall.SIGINT) }

// killGroup kills a command and its child processes.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// tryLock locks a file, also within this process, and reports whether it succeeded.
func tryLock(file *os.File) bool {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
