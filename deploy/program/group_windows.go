package program

import (
	"os/exec"
	"strconv"
)

// ownGroup makes a command's whole process tree be killed when the context is done, since Windows cannot interrupt it.
func ownGroup(cmd *exec.Cmd) {
	cmd.Cancel = func() error {
		return exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid)).Run()
	}
}

// killGroup is a no-op, since Windows does not track the descendants of exited processes.
func killGroup(*exec.Cmd) {}
