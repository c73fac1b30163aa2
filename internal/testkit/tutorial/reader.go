package tutorial

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Reader does what pages say, one step after another.
type Reader struct {
	// Page is the name of the page, for messages.
	Page string
	// Dir is the working directory. Commands may change it.
	Dir string
	// Env is the environment of commands.
	Env []string

	output string // of the last commands
}

// Do carries out steps. It ends the test if commands fail.
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
			if diff := cmp.Diff(step.Text, r.output); diff != "" {
				t.Errorf("%s:%d: the output is another (-want +got):\n%s", r.Page, step.Line, diff)
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
	text := step.Text
	if step.Kind == AppendFile {
		text = "\n" + text
	}
	f, err := os.OpenFile(name, os.O_WRONLY|flags, 0o644)
	if err != nil {
		t.Fatalf("%s:%d: %v", r.Page, step.Line, err)
	}
	_, err = f.WriteString(text)
	if err2 := f.Close(); err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
}

// run runs commands and remembers the folder that they end in.
func (r *Reader) run(t *testing.T, step Step) {
	t.Helper()
	where := filepath.Join(t.TempDir(), "cwd")
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", step.Text+"pwd >"+where)
	cmd.Dir, cmd.Env = r.Dir, r.Env
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s:%d: %v\n%s%s", r.Page, step.Line, err, &stdout, &stderr)
	}
	dir, err := os.ReadFile(where)
	if err != nil {
		t.Fatal(err)
	}
	r.Dir, r.output = strings.TrimSpace(string(dir)), stdout.String()
}
