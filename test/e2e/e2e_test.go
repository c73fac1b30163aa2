// Package e2e tests code generation end to end: it runs the cidlc command on IDL and checks its output with the Go and
// TypeScript toolchains. It contains only tests.
package e2e

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// update rewrites the golden files. It is set by 'make golden'.
var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// checkout is the root of the repository. cidlc is the path of the command, built from this checkout.
var checkout, cidlc string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(withCommand(m.Run))
}

func withCommand(run func() int) int {
	root, err := filepath.Abs("../..")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	dir, err := os.MkdirTemp("", "cidlc")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	checkout, cidlc = root, filepath.Join(dir, "cidlc")
	build := exec.Command("go", "build", "-o", cidlc, "./cmd/cidlc")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
		return 1
	}
	return run()
}

// result holds the exit code and output of a command.
type result struct {
	code           int
	stdout, stderr string
}

// compile runs cidlc in dir with additional environment variables.
func compile(t *testing.T, dir string, env []string, args ...string) result {
	t.Helper()
	var stdout, stderr strings.Builder
	cmd := exec.Command(cidlc, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
	cmd.Env = append(os.Environ(), env...)
	err := cmd.Run()
	if failed := new(exec.ExitError); err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// run runs a command in the root of the repository. The test fails if the command fails or prints anything.
func run(t *testing.T, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = checkout
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, out)
	}
}
