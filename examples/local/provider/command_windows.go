package local

import "os/exec"

var shell = []string{"cmd", "/C"}

// ownGroup does nothing. On Windows, only the command itself is stopped, but not its child processes.
func ownGroup(*exec.Cmd) {}

func killGroup(*exec.Cmd) {}
