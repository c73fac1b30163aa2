//go:build unix && !linux

package plugin

import (
	"os/exec"
	"syscall"
)

// ownGroup puts the process into its own process group.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
