package main

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// ownGroup protects a command from a terminal's interrupts.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// interrupt does nothing: Windows cannot interrupt a single process. The command runs to its end.
func interrupt(*exec.Cmd) error { return nil }

// killGroup kills a command and its child processes.
func killGroup(cmd *exec.Cmd) {
	_ = exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid)).Run()
}

// tryLock does nothing: a second tofu waits for the state lock.
func tryLock(*os.File) bool { return true }
