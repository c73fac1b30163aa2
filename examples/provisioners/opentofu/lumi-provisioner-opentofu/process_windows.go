package main

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// ownGroup keeps the interrupts of a terminal from a command.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// interrupt does nothing: Windows cannot interrupt one process. It ends when it is done.
func interrupt(*exec.Cmd) error { return nil }

// killGroup ends a command and what it started.
func killGroup(cmd *exec.Cmd) {
	_ = exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid)).Run()
}

// tryLock does nothing: a second tofu waits for the lock of the state.
func tryLock(*os.File) bool { return true }
