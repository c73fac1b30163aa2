//go:build unix && !linux

package plugin

import (
	"os/exec"
	"syscall"
)

// ownGroup configures cmd to run in its own process group.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
