//go:build unix

package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// A single signal ends a command that waits for input, and the command prints a message, even if the signal also ended
// the process that writes the input.
func TestSignal(t *testing.T) {
	if os.Getenv("LUMI_TEST_CHILD") != "" {
		os.Args = []string{"lumi", "show", "-", "--view=plain"}
		main()
	}
	for _, ends := range []bool{false, true} {
		child := exec.Command(os.Args[0], "-test.run=^TestSignal$")
		child.Env = append(os.Environ(), "LUMI_TEST_CHILD=1")
		var stderr bytes.Buffer
		child.Stderr = &stderr
		stdin := must.Get(child.StdinPipe())(t)
		must.Do(t, child.Start())
		// The write exceeds the pipe's buffer, so it returns only once the child reads. By then, the child has
		// installed its signal handler.
		must.Get(stdin.Write(bytes.Repeat([]byte(" "), 1<<20)))(t)
		must.Do(t, child.Process.Signal(syscall.SIGINT))
		if ends {
			_ = stdin.Close()
		}
		_ = child.Wait()
		if got := stderr.String(); child.ProcessState.ExitCode() != console.ExitFailed || got != "lumi: "+console.Interrupted+"\n" {
			t.Errorf("exit code = %d, stderr = %q, want %d and the interrupt message", child.ProcessState.ExitCode(), got, console.ExitFailed)
		}
	}
}

func TestProviderSignal(t *testing.T) {
	if plugin := os.Getenv("LUMI_TEST_PLUGIN"); plugin != "" {
		os.Args = []string{"lumi", "provider", "test", plugin, "--fixture=-"}
		main()
	}
	const fixture = `{
		"configuration": {"bug": "wait"},
		"vertices": {
			"fiction": {"type": "library:index:Shelf", "name": "fiction", "create": {"name": "fiction"}},
			"emma": {"type": "library:index:Book", "create": {"title": "Emma", "shelf": {"#ref": "fiction"}, "place": "here"}}
		}
	}`
	child := exec.Command(os.Args[0], "-test.run=^TestProviderSignal$")
	child.Env = append(os.Environ(), "LUMI_TEST_PLUGIN="+testPlugin(t))
	child.Stdin = strings.NewReader(fixture)
	var stderr bytes.Buffer
	child.Stderr = &stderr
	stdout := must.Get(child.StdoutPipe())(t)
	must.Do(t, child.Start())
	var said strings.Builder
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), "place, shelf, title unknown") { // creation of the book never finishes
			must.Do(t, child.Process.Signal(syscall.SIGINT))
		}
	}
	_ = child.Wait()
	if want := "lumi: " + console.CleaningUp + "\nlumi: interrupted\n"; child.ProcessState.ExitCode() != console.ExitFailed || stderr.String() != want {
		t.Errorf("exit code = %d, stderr = %q, want %d and %q", child.ProcessState.ExitCode(), &stderr, console.ExitFailed, want)
	}
	for _, part := range []string{
		"\n  FAIL  create\n", "        interrupted\n", "\nlibrary:index:Shelf \"fiction\": cleaned up fiction\n",
	} {
		if !strings.Contains(said.String(), part) {
			t.Errorf("stdout does not contain %q:\n%s", part, &said)
		}
	}
}
