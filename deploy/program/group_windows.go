package program

import (
	"os/exec"
	"strconv"
)

// ownGroup has a command and all that it started end when the context is done. They cannot be asked to.
func ownGroup(cmd *exec.Cmd) {
	cmd.Cancel = func() error {
		return exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid)).Run()
	}
}

// Windows does not know what a command that has ended started.
func killGroup(*exec.Cmd) {}
