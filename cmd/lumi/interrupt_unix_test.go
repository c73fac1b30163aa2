//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// TestSignal holds that one signal ends a command that waits for its input, and that it is said also where the same
// signal has ended the input.
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
		stdin, err := child.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		// What is larger than a pipe holds is written only once the child reads, so that it has seen to signals by then.
		if _, err := stdin.Write(bytes.Repeat([]byte(" "), 1<<20)); err != nil {
			t.Fatal(err)
		}
		if err := child.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		if ends {
			_ = stdin.Close()
		}
		_ = child.Wait()
		if got := stderr.String(); child.ProcessState.ExitCode() != exitFailed || got != "lumi: "+interrupted+"\n" {
			t.Errorf("exit code %d, stderr %q", child.ProcessState.ExitCode(), got)
		}
	}
}
