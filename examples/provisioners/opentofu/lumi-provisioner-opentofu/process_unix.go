//go:build unix

package main

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup puts a command into a process group.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// interrupt has tofu, and not what it started, end in order.
func interrupt(cmd *exec.Cmd) error { return syscall.Kill(cmd.Process.Pid, syscall.SIGINT) }

// killGroup ends a command and what it started.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// tryLock locks a file, also against others in this process, and reports whether nothing else has it locked.
func tryLock(file *os.File) bool {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
