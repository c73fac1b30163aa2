//go:build unix

package plugin

import (
	"os"
	"syscall"
)

// killGroup kills a process and its process group. It fails only if they have already exited.
func killGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
