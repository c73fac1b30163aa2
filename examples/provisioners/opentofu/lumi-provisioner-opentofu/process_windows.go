package main

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// ownGroup makes cmd start in its own process group, so that it does not receive interrupts from the terminal.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// interrupt does nothing, since Windows cannot interrupt a single process. The command runs until it finishes.
func interrupt(*exec.Cmd) error { return nil }

// killGroup kills a command and its child processes.
func killGroup(cmd *exec.Cmd) {
	_ = exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid)).Run()
}

// tryLock does nothing, since a second tofu waits for the state lock.
func tryLock(*os.File) bool { return true }
