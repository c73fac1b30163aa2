package program

import (
	"os/exec"
	"strconv"
)

// ownGroup configures a command so that its whole process tree is killed when the context is done. Windows has no way
// to interrupt the processes.
func ownGroup(cmd *exec.Cmd) {
	cmd.Cancel = func() error {
		return exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid)).Run()
	}
}

// killGroup is a no-op, since Windows does not track the descendants of exited processes.
func killGroup(*exec.Cmd) {}
