//go:build unix

package postgres

import (
	"os/exec"
	"syscall"
)

// runAs makes a command run as another user.
func runAs(c *exec.Cmd, user uint32) {
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
}
