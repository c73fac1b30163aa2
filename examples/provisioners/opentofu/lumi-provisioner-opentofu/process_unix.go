//go:build unix

package main

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup makes cmd start in its own process group.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// interrupt sends SIGINT to the command, but not to its child processes.
func interrupt(cmd *exec.Cmd) error { return syscall.Kill(cmd.Process.Pid, syscall.SIGINT) }

// killGroup kills a command and its child processes.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// tryLock tries to lock a file against other open files, even in this process. It reports whether it succeeded.
func tryLock(file *os.File) bool {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
