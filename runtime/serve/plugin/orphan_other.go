//go:build unix && !linux

package plugin

import (
	"os/exec"
	"syscall"
)

// ownGroup puts the process into a group of its own, with those that it starts.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
