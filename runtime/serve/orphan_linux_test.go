package serve

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/lumi-idl/lumi/test/kit/must"
)

// A stopped plugin resumes, cleans up, and exits if its parent is killed.
func TestOrphanStopped(t *testing.T) {
	parent, m := startParent(t, "parent")
	m.expect(t, "waiting")
	must.Do(t, syscall.Kill(childOf(t, parent.Process.Pid), syscall.SIGSTOP))
	must.Do(t, parent.Process.Kill())
	m.expect(t, "tidied up")
	m.expectEnd(t)
}

// A plugin that cannot detect its parent's death yet is killed with the parent.
func TestOrphanUndetected(t *testing.T) {
	for _, role := range []string{"parent of silent", "parent of silent provisioner"} {
		parent, m := startParent(t, role)
		m.expect(t, "silent")
		must.Do(t, parent.Process.Kill())
		m.expectEnd(t)
	}
}

func startParent(t *testing.T, role string) (*exec.Cmd, *marks) {
	t.Helper()
	m := newMarks(t)
	parent := exec.Command(os.Args[0])
	parent.Env = append(env(role), m.variable)
	parent.Stderr = os.Stderr
	must.Do(t, parent.Start())
	t.Cleanup(func() { _ = parent.Wait() }) // It was killed.
	return parent, m
}

// childOf returns the only child of a process.
func childOf(t *testing.T, pid int) int {
	t.Helper()
	var all string
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		text, failed := os.ReadFile(list)
		if failed != nil {
			err = failed
		}
		all += string(text)
	}
	child, wrong := strconv.Atoi(strings.TrimSpace(all))
	if err != nil || wrong != nil {
		t.Fatalf("children = %q, errors %v and %v, want one id", all, err, wrong)
	}
	return child
}
