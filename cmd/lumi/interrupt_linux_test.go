package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestPlanSignal(t *testing.T) {
	if os.Getenv("LUMI_TEST_PLAN") != "" {
		os.Args = []string{"lumi", "plan", "desired.json"}
		main()
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"Lumi.yaml": "environment: dev\nplugins: {slow: slow.sh}\n",
		"slow.sh":   "#!/bin/sh\necho $$ >pid.new; mv pid.new pid\nexec sleep 1000\n",
		"desired.json": `{"package": "shop", "resources": {"urn:lumi:dev::shop:index::slow:index:Thing::a": {
			"type": "slow:index:Thing", "properties": {"name": "a"}}}}`,
	} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755))
	}
	child := exec.Command(os.Args[0], "-test.run=^TestPlanSignal$")
	child.Dir, child.Env = dir, append(os.Environ(), "LUMI_TEST_PLAN=1")
	must.Do(t, child.Start())
	var pid int
	for end := time.Now().Add(time.Minute); pid == 0 && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		text, _ := os.ReadFile(filepath.Join(dir, "pid"))
		pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
	}
	must.Do(t, child.Process.Signal(syscall.SIGINT))
	_ = child.Wait()
	for end := time.Now().Add(time.Minute); pid != 0; time.Sleep(10 * time.Millisecond) {
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || isZombie(pid) {
			return
		} else if time.Now().After(end) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			t.Fatal("the plugin is still running a minute after the signal")
		}
	}
	t.Fatal("lumi plan never started the plugin")
}

// isZombie reports whether a process has exited but has not been reaped.
func isZombie(pid int) bool {
	status, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	_, rest, _ := strings.Cut(string(status), ") ")
	return strings.HasPrefix(rest, "Z")
}
