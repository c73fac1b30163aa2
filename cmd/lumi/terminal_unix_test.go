//go:build unix

package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// terminal is a command that runs on a pseudo-terminal.
type terminal struct {
	t      *testing.T
	cmd    *exec.Cmd
	master *os.File
	mutex  sync.Mutex
	output bytes.Buffer
	seen   int // the length of the output matched so far
	ended  chan struct{}
}

// onTerminal starts lumi on a pseudo-terminal in dir.
func onTerminal(t *testing.T, dir string, args ...string) *terminal {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	x := &terminal{t: t, ended: make(chan struct{})}
	x.cmd = &exec.Cmd{Path: self, Args: append([]string{"lumi"}, args...), Dir: dir}
	x.cmd.Env = append(os.Environ(), "TERM=xterm", "LUMI_PASSPHRASE=", "PATH="+filepath.Dir(localPlugin(t))+":"+os.Getenv("PATH"))
	if x.master, err = pty.StartWithSize(x.cmd, &pty.Winsize{Rows: 40, Cols: 100}); err != nil {
		t.Fatal(err)
	}
	go x.read()
	t.Cleanup(func() {
		_ = x.cmd.Process.Kill()
		_ = x.master.Close()
	})
	return x
}

func (x *terminal) read() {
	defer close(x.ended)
	buffer := make([]byte, 4096)
	for {
		n, err := x.master.Read(buffer)
		x.mutex.Lock()
		x.output.Write(buffer[:n])
		x.mutex.Unlock()
		if err != nil {
			return
		}
	}
}

// controls matches terminal control sequences.
var controls = regexp.MustCompile(`\x1b\[[0-9;?=>]*[a-zA-Z]|\x1b[=>()][0-9A-Za-z]?|\r`)

func (x *terminal) text() string {
	x.mutex.Lock()
	defer x.mutex.Unlock()
	return controls.ReplaceAllString(x.output.String(), "")
}

// expect waits for text in the output that follows the previous match.
func (x *terminal) expect(text string) *terminal {
	x.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		all := x.text()
		if at := strings.Index(all[min(x.seen, len(all)):], text); at >= 0 {
			x.seen += at + len(text)
			return x
		}
		if time.Now().After(deadline) {
			x.t.Fatalf("output does not contain %q: %q", text, all[min(x.seen, len(all)):])
		}
	}
}

func (x *terminal) send(text string) *terminal {
	x.t.Helper()
	if _, err := x.master.WriteString(text); err != nil {
		x.t.Fatal(err)
	}
	return x
}

// exit waits for the command to end and checks its exit code.
func (x *terminal) exit(want int) {
	x.t.Helper()
	err := x.cmd.Wait()
	<-x.ended
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		x.t.Fatal(err)
	}
	if got := x.cmd.ProcessState.ExitCode(); got != want {
		x.t.Errorf("exit code = %d, want %d:\n%s", got, want, x.text())
	}
}

// workspaceFor creates a workspace with one module, whose desired state is a file with the given resources.
func workspaceFor(t *testing.T, resources string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range map[string]string{
		"Lumi.yaml": "environment: dev\n", "shop.json": `{"package": "shop", "resources": {` + resources + "}}",
	} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

const (
	password = `"urn:lumi:dev::shop:index::local:index:RandomString::password": {"type": "local:index:RandomString", "properties": {"name": "password", "length": 24}}`
	slow     = `"urn:lumi:dev::shop:index::local:index:Command::slow": {"type": "local:index:Command", "source": "main.ts:7:1", "properties": {"name": "slow", "create": "touch started; sleep 2; touch ended"}}`
)

func TestPrompts(t *testing.T) {
	dir := workspaceFor(t, password)
	onTerminal(t, dir, "deploy", "shop.json").expect("1 to create").expect("Deploy shop in dev? [y/N] ").send("\n").
		expect("lumi: nothing was changed").exit(console.ExitWrong)
	onTerminal(t, dir, "deploy", "shop.json").expect("Deploy shop in dev? [y/N] ").send("y\n").
		expect("Secrets in the state of environment dev are encrypted with a passphrase.").
		expect("New passphrase: ").send("first\n").expect("Repeat the passphrase: ").send("second\n").
		expect("lumi: the key needs a passphrase: the passphrases do not match").exit(console.ExitAsks)
	x := onTerminal(t, dir, "deploy", "shop.json").expect("Deploy shop in dev? [y/N] ").send("yes\n").
		expect("New passphrase: ").send("first\n").expect("Repeat the passphrase: ").send("first\n").
		expect("shop[1]  done").expect("✓ + create password local:index:RandomString")
	x.exit(console.ExitOK)
	if strings.Contains(x.text(), "first") {
		t.Errorf("the terminal echoed the passphrase:\n%s", x.text())
	}
	onTerminal(t, dir, "destroy").expect("Passphrase for environment dev: ").send("second\n").
		expect("cannot unwrap the key").exit(console.ExitAsks)
	onTerminal(t, dir, "destroy").expect("Passphrase for environment dev: ").send("\x03").exit(console.ExitFailed)
	onTerminal(t, dir, "destroy").expect("Passphrase for environment dev: ").send("first\n").
		expect("- delete password").expect("Destroy shop in dev? [y/N] ").send("Y\n").expect("shop[2]  done").exit(console.ExitOK)
}

// A secret value is not echoed, and an interrupt at the prompt changes nothing.
func TestConfigPrompt(t *testing.T) {
	dir := t.TempDir()
	const yaml = "package: shop\nenvironment: dev\nenvironments: {dev: {key: \"age:age1eq7nff7j52y0jqf9tl9dwhns3vn4rtgt8lx7z9yc7u8me54twcys9a0zqk\"}}\n"
	must.Do(t, os.WriteFile(filepath.Join(dir, "Lumi.yaml"), []byte(yaml), 0o600))
	onTerminal(t, dir, "config", "set", "--secret", "pin").expect("Value of pin in dev: ").send("\x03").exit(console.ExitFailed)
	onTerminal(t, dir, "config", "set", "--secret", "pin").expect("Value of pin in dev: ").send("\n").
		expect("lumi: the value of pin is empty").exit(console.ExitFailed)
	onTerminal(t, dir, "config", "set", "--secret", "pin", "--json").
		expect("lumi: config set: cannot ask for the value without a terminal: pipe it to standard input; ").exit(console.ExitFailed)
	if _, err := os.Stat(filepath.Join(dir, "config")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("folder config: error %v, want it to be missing", err)
	}
	x := onTerminal(t, dir, "config", "set", "--secret", "pin").expect("Value of pin in dev: ").send("hunter2\n").expect("pin is set in ")
	x.exit(console.ExitOK)
	if strings.Contains(x.text(), "hunter2") {
		t.Errorf("the terminal echoed the value:\n%s", x.text())
	}
	onTerminal(t, dir, "config").expect("(secret)  config/dev.sealed.json:2:10").exit(console.ExitOK)
}

func TestLiveInterrupts(t *testing.T) {
	dir := workspaceFor(t, slow)
	x := onTerminal(t, dir, "deploy", "shop.json", "--yes").expect("creating slow")
	must.Do(t, pty.Setsize(x.master, &pty.Winsize{Rows: 10, Cols: 50}))
	x.send("\x03").expect("interrupted: waiting for running calls").expect("✓ + create slow").exit(console.ExitResumable)
	onTerminal(t, dir, "deploy", "shop.json", "--yes").expect("waits for shop[1]").expect("shop[1]  done").exit(console.ExitOK)
}

func TestTerminalClosed(t *testing.T) {
	dir := workspaceFor(t, slow)
	x := onTerminal(t, dir, "deploy", "shop.json", "--yes").expect("creating slow")
	must.Do(t, x.master.Close())
	_ = x.cmd.Wait()
	must.Get(os.Stat(filepath.Join(dir, "ended")))(t)
	onTerminal(t, dir, "deploy", "shop.json", "--yes").expect("No resources to change").exit(console.ExitOK)
}

// TestTaskPrompts confirms an upload that replaces the default graph, then interrupts a run.
func TestTaskPrompts(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", dir)
	put := func(name, text string) {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	put("Lumi.yaml", "environment: dev\n")
	put("inventory.yaml", "nodes: {here: {connection: local}}\n")
	put("tasks.yaml", "- {id: slow, type: shell, parameters: {cmd: \"echo begun; until [ -e go ]; do sleep 0.1; done\"}}\n")
	onTerminal(t, dir, "tasks", "upload", "--file=tasks.yaml").expect("Created graph default of cluster dev: 1 task.").exit(console.ExitOK)
	put("tasks.yaml", "- {id: slow, type: shell, parameters: {cmd: \"echo begun; until [ -e go ]; do sleep 0.2; done\"}}\n")
	onTerminal(t, dir, "tasks", "upload", "--file=tasks.yaml").
		expect("Replace graph default of cluster dev? [y/N] ").send("n\n").expect("lumi: nothing was changed").exit(console.ExitWrong)
	onTerminal(t, dir, "tasks", "upload", "--file=tasks.yaml").
		expect("Replace graph default of cluster dev? [y/N] ").send("y\n").expect("changed: slow (parameters)").exit(console.ExitOK)

	refused := onTerminal(t, dir, "tasks", "run", "--type=other").expect("lumi: dev has no graph of type other: 'lumi tasks upload' adds one")
	refused.exit(console.ExitWrong)
	if text := strings.TrimSuffix(refused.text(), "\n"); strings.Contains(text, "\n") {
		t.Errorf("output = %q, want a single line", text)
	}

	onTerminal(t, dir, "tasks", "run").expect("default[1] here/slow: begun").expect("executing here/slow").
		send("\x03").expect("interrupted: waiting for running tasks; interrupt again to cancel them").
		send("\x03").expect("canceling tasks; interrupt again to exit immediately").exit(console.ExitResumable)
	x := onTerminal(t, dir, "tasks", "run", "--resume").expect("executing here/slow")
	put("go", "")
	x.expect("✓ here/slow").expect("default[1] is done: 1 done.").exit(console.ExitOK)
}

// Program output cannot control a terminal. In a pipe, it is unchanged.
func TestProgramOutputEscaped(t *testing.T) {
	dir := workspaceFor(t, password)
	bin := filepath.Join(dir, "node_modules", ".bin")
	must.Do(t, os.MkdirAll(bin, 0o755))
	const said = "Error: \x1b]0;t\x07 a\u202eb\u009b \x1b[8mx"
	for name, text := range map[string]string{
		filepath.Join(dir, "said"): said, filepath.Join(dir, "web.js"): "",
		filepath.Join(bin, "lumi-program"): "#!/bin/sh\ncat " + dir + "/said >&2\necho >&2\nexit 1\n",
	} {
		must.Do(t, os.WriteFile(name, []byte(text), 0o755))
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "Lumi.yaml"), []byte("environment: dev\nmodules: {web: web.js}\n"), 0o600))
	x := onTerminal(t, dir, "plan")
	x.exit(console.ExitWrong)
	const want = "Error: ␛]0;t␇ a\ufffdb\ufffd ␛[8mx\r\n"
	if got := x.output.String(); !strings.HasPrefix(got, want) {
		t.Errorf("output on a terminal = %q, want prefix %q", got, want)
	}
	self := must.Get(os.Executable())(t)
	piped := &exec.Cmd{Path: self, Args: []string{"lumi", "plan"}, Dir: dir, Env: x.cmd.Env}
	if got, _ := piped.CombinedOutput(); !strings.HasPrefix(string(got), said+"\n") { // lumi exits with code 1
		t.Errorf("output in a pipe = %q, want prefix %q", got, said)
	}
}
