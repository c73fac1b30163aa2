package job

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// self identifies this process by host, process ID and, where the system reports it, start time.
func self() string {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	return fmt.Sprintf("%s/%d/%s", host, os.Getpid(), start(os.Getpid()))
}

// hasEnded reports whether the process with an identity is known to have ended. Of those of other hosts nothing is known.
func hasEnded(owner string) bool {
	parts := strings.Split(owner, "/")
	host, err := os.Hostname()
	if err != nil || len(parts) != 3 || parts[0] != host {
		return false
	}
	pid, err := strconv.Atoi(parts[1])
	if err != nil || pid <= 0 {
		return false
	}
	if parts[2] != "" {
		return start(pid) != parts[2]
	}
	process, err := os.FindProcess(pid)
	return err != nil || errors.Is(process.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// start returns when a process started, in the system's own unit, or "" if that is unknown or the process has ended, be it as
// a zombie.
func start(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// The name of the command, in parentheses, may have spaces. The state comes next, the start is the 22nd field.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 || string(fields[0]) == "Z" || string(fields[0]) == "X" {
		return ""
	}
	return string(fields[19])
}
