//go:build unix

package plugin

import (
	"os"
	"syscall"
)

// killGroup kills the process group of p. It is a no-op if the group has already exited.
func killGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }

// terminateGroup asks the process group of p to exit.
func terminateGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGTERM) }
