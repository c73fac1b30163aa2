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

	"filippo.io/age"

	"github.com/lumi-idl/lumi/test/kit/commands"
	"github.com/lumi-idl/lumi/test/kit/must"
	"github.com/lumi-idl/lumi/test/kit/sshd"
)

// tasksWorkspace builds lumi and creates a workspace with a graph of one task, which runs a command. It returns a
// function that returns lumi commands.
func tasksWorkspace(t *testing.T, workspace, inventory, command string, env ...string) func(args ...string) *exec.Cmd {
	t.Helper()
	dir := t.TempDir()
	commands.Build(t, "../..", dir, "cmd/lumi")
	for name, content := range map[string]string{
		"Lumi.yaml": workspace, "inventory.yaml": inventory,
		"tasks.yaml": "type: default\ntasks: [{id: print, type: shell, roles: a, parameters: {cmd: " + command + "}}]\n",
	} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	lumi := func(args ...string) *exec.Cmd {
		c := exec.Command("./lumi", args...)
		c.Dir, c.Env = dir, append(append(os.Environ(), "GOGC=", "GOMEMLIMIT=", "XDG_STATE_HOME="+filepath.Join(dir, "state")), env...)
		return c
	}
	if out, err := lumi("tasks", "upload", "--file=tasks.yaml", "--yes").CombinedOutput(); err != nil {
		t.Fatalf("lumi tasks upload: %v\n%s", err, out)
	}
	return lumi
}

// A task that prints 60 MB on one line costs 'lumi tasks run' at most 80 MB of memory.
func TestTaskOutputMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("requires /proc")
	}
	t.Parallel()
	lumi := tasksWorkspace(t, "environment: prod\n", "nodes: {here: {connection: local, roles: [a]}}\n", "head -c 60000000 /dev/zero")
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

// The password for sudo is a sealed secret of the environment.
func TestBecomeSecret(t *testing.T) {
	t.Parallel()
	s := sshd.StartSudo(t, "operator ALL=(ALL) ALL")
	identity := must.Get(age.GenerateX25519Identity())(t)
	lumi := tasksWorkspace(t, fmt.Sprintf("environment: prod\nenvironments: {prod: {key: 'age:%s'}}\n", identity.Recipient()), fmt.Sprintf(
		"nodes: {db: {address: 127.0.0.1, port: %d, user: %s, become: sudo, become_secret: sudo, roles: [a]}}\n", s.Port, s.User), "id -un",
		"HOME="+s.Home, "SSH_AUTH_SOCK=", "LUMI_AGE_IDENTITY=")
	try := func(c *exec.Cmd, code int, want string) {
		t.Helper()
		out, _ := c.CombinedOutput()
		if got := c.ProcessState.ExitCode(); got != code || !strings.Contains(string(out), want) || strings.Contains(string(out), sshd.Password) {
			t.Errorf("%q = exit code %d, output\n%s\nwant %d, %s", c.Args, got, out, code, want)
		}
	}
	set := func(password string) {
		t.Helper()
		c := lumi("config", "set", "--secret", "sudo")
		c.Stdin = strings.NewReader(password)
		try(c, 0, "sudo is set in")
	}
	try(lumi("tasks", "run", "--dry-run"), 1, "inventory.yaml: node db: become_secret: environment prod has no secret sudo: "+
		"set it with 'lumi config set --secret sudo --environment=prod'\n")
	set("wrong")
	try(lumi("tasks", "run"), 3, "sudo: the secret needs an age identity")
	run := func(code int, want string) {
		t.Helper()
		c := lumi("tasks", "run")
		c.Env = append(c.Env, "LUMI_AGE_IDENTITY="+identity.String())
		try(c, code, want)
	}
	run(1, "db/print: failed: node db: wrong password for sudo\n")
	set(sshd.Password)
	run(0, "db/print: root\n")
	must.Do(t, filepath.WalkDir(lumi().Dir, func(name string, entry os.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && bytes.Contains(must.Get(os.ReadFile(name))(t), []byte(sshd.Password)) {
			t.Errorf("%s contains the password", name)
		}
		return err
	}))
}
