//go:build unix

package plugin

import (
	"os"
	"syscall"
)

// killGroup kills a process and those of its group. It fails only if they have ended.
func killGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
