package job

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// self returns the identifier of this process: the host, the process ID, and, if available, the start time and the machine.
func self() string {
	return fmt.Sprintf("%s/%d/%s%s", host(), os.Getpid(), start(os.Getpid()), machine())
}

// machine returns what distinguishes hosts and containers with the same name, whose processes this one cannot see. It begins
// with a hyphen, or is "" if it is unknown.
func machine() string {
	id, _ := os.ReadFile("/etc/machine-id") // unlike a boot, it outlives a reboot, after which owners are known to be dead
	if id = bytes.TrimSpace(id); len(id) == 0 || namespace() != "" {
		id = []byte(boot())
	}
	if len(id) == 0 {
		return ""
	}
	return fmt.Sprintf("-%.3x", sha256.Sum256(id))
}

// namespace returns the identifier of the container whose processes this one sees, or "" outside containers.
func namespace() string {
	const initial = "pid:[4026531836]"
	name, _ := os.Readlink("/proc/self/ns/pid")
	return strings.TrimPrefix(name, initial)
}

func host() string {
	name, err := os.Hostname()
	if err != nil {
		return "localhost"
	}
	return name
}

// boot returns an identifier of this boot of the host, or of the container, or "" if it is unknown.
func boot() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id)) + namespace()
}

// hasEnded reports whether the owner's process is known to have exited. It returns false for processes on other hosts.
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
	if begun, here := strings.CutSuffix(parts[2], machine()); !here {
		return false
	} else if begun != "" {
		return start(pid) != begun
	}
	process, err := os.FindProcess(pid)
	return err != nil || errors.Is(process.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// start returns the start time of a process in system-specific units. It returns "" if the time is unknown, or if the
// process has exited or is a zombie.
func start(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// The command name in parentheses may contain spaces. The process state follows it. The start time is field 22.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 || string(fields[0]) == "Z" || string(fields[0]) == "X" {
		return ""
	}
	return string(fields[19])
}
