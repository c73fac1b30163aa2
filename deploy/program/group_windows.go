package program

import (
	"os/exec"
	"strconv"
)

// ownGroup kills a command and its descendants when the context is done. They cannot be interrupted.
func ownGroup(cmd *exec.Cmd) {
	cmd.Cancel = func() error {
		return exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid)).Run()
	}
}

// killGroup does nothing: Windows does not track the descendants of ended processes.
func killGroup(*exec.Cmd) {}
