package plugin

import (
	"os"
	"os/exec"
)

func ownGroup(*exec.Cmd) {}

func killGroup(p *os.Process) { _ = p.Kill() }

// terminateGroup kills p, since Windows has no signal that asks a process to exit.
func terminateGroup(p *os.Process) { killGroup(p) }
