package tutorial

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lumi-idl/lumi/test/kit/commands"
	"github.com/lumi-idl/lumi/test/kit/node"
)

// Reader executes the steps of one or more pages in sequence.
type Reader struct {
	// Page is the name of the page in failure messages.
	Page string
	// Dir is the working directory of the next step. Commands can change it with cd.
	Dir string
	// Env holds the initial environment variables. Commands can export variables to later commands.
	Env []string
	// Errors allows commands to fail and appends standard error to the output. If it is false, a failing command fails
	// the test immediately.
	Errors bool

	output  string // output of the last RunCommands step
	exports string // commands that restore exported variables
}

// Environment builds cidlc and returns the current environment variables with cidlc in PATH and module downloads disabled.
func Environment(t *testing.T, checkout string) []string {
	t.Helper()
	bin := t.TempDir()
	commands.Build(t, checkout, bin, "cmd/cidlc")
	cache := strings.TrimSpace(node.Run(t, checkout, "go", "env", "GOCACHE"))
	return append(os.Environ(),
		"LUMI="+checkout, "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"), "GOPROXY=off", "GOSUMDB=off",
		"GOFLAGS=", "GOWORK=off", "XDG_CACHE_HOME="+t.TempDir(), "GOCACHE="+cache)
}

// Do executes steps. Unexpected output fails the test; all other errors fail it immediately.
func (r *Reader) Do(t *testing.T, steps ...Step) {
	t.Helper()
	for _, step := range steps {
		switch step.Kind {
		case RunCommands:
			r.run(t, step)
		case WriteFile:
			r.write(t, step, os.O_TRUNC|os.O_CREATE)
		case AppendFile:
			r.write(t, step, os.O_APPEND)
		case ExpectOutput:
			if !Resembles(step.Text, r.output) {
				t.Errorf("%s:%d: output (-want +got):\n%s", r.Page, step.Line, cmp.Diff(step.Text, r.output))
			}
		}
	}
}

func (r *Reader) write(t *testing.T, step Step, flags int) {
	t.Helper()
	name := filepath.Join(r.Dir, filepath.FromSlash(step.File))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(name, os.O_WRONLY|flags, 0o644)
	if err != nil {
		t.Fatalf("%s:%d: %v", r.Page, step.Line, err)
	}
	_, err = f.WriteString(step.Text)
	if err2 := f.Close(); err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
}

// run runs the commands of a step and records their output, final working directory, and exported variables.
func (r *Reader) run(t *testing.T, step Step) {
	t.Helper()
	memory := t.TempDir()
	where, exports := filepath.Join(memory, "cwd"), filepath.Join(memory, "exports")
	options := "-euo"
	var stdout, stderr strings.Builder
	out, errs := &stdout, &stderr
	if r.Errors {
		options, errs = "-uo", out
	}
	cmd := exec.Command("bash", options, "pipefail", "-c", r.exports+step.Text+"pwd >"+where+"; export -p >"+exports)
	cmd.Dir, cmd.Env = r.Dir, r.Env
	cmd.Stdout, cmd.Stderr = out, errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s:%d: %v\n%s%s", r.Page, step.Line, err, &stdout, &stderr)
	}
	dir, err := os.ReadFile(where)
	exported, err2 := os.ReadFile(exports)
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	r.Dir, r.output, r.exports = strings.TrimSpace(string(dir)), stdout.String(), string(exported)
}
