package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/test/kit/commands"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// A task that prints 60 MB on one line costs 'lumi tasks run' at most 80 MB of memory.
func TestTaskOutputMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("requires /proc")
	}
	t.Parallel()
	dir := t.TempDir()
	commands.Build(t, "../..", dir, "cmd/lumi")
	for name, content := range map[string]string{
		"Lumi.yaml": "environment: prod\n", "inventory.yaml": "nodes: {here: {connection: local, roles: [a]}}\n",
		"tasks.yaml": "type: default\ntasks: [{id: print, type: shell, roles: a, parameters: {cmd: head -c 60000000 /dev/zero}}]\n",
	} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	lumi := func(args ...string) *exec.Cmd {
		c := exec.Command("./lumi", args...)
		c.Dir, c.Env = dir, append(os.Environ(), "GOGC=", "GOMEMLIMIT=", "XDG_STATE_HOME="+filepath.Join(dir, "state"))
		return c
	}
	if out, err := lumi("tasks", "upload", "--file=tasks.yaml", "--yes").CombinedOutput(); err != nil {
		t.Fatalf("lumi tasks upload: %v\n%s", err, out)
	}
	run := lumi("tasks", "run")
	run.Stderr = os.Stderr
	pipe, err := run.StdoutPipe()
	must.Do(t, err)
	must.Do(t, run.Start())
	size, peak := 0, 0
	for out := bufio.NewReaderSize(pipe, 1<<20); ; {
		line, err := out.ReadSlice('\n')
		size += bytes.Count(line, []byte("\u2400")) + bytes.Count(line, []byte{0})
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", run.Process.Pid))
		if _, rest, found := strings.Cut(string(status), "VmHWM:"); found {
			n, _ := strconv.Atoi(strings.Fields(rest)[0])
			peak = max(peak, n>>10)
		}
		if err != nil {
			break
		}
	}
	if err := run.Wait(); err != nil {
		t.Fatalf("lumi tasks run: %v", err)
	}
	if size != 60_000_000 {
		t.Errorf("the command printed %d of 60000000 characters", size)
	}
	if peak == 0 || peak > 80 {
		t.Errorf("peak memory = %d MB, want at most 80", peak)
	}
}
