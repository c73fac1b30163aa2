package providertest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/internal/testkit/tutorial"
)

// TestDocs does what docs/testing.md says, in an empty folder and without a network.
func TestDocs(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a plugin in a module of its own")
	}
	t.Parallel()
	checkout, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{t: t, cwd: t.TempDir(), env: environment(t, checkout)}
	for _, step := range steps(t, filepath.Join(checkout, "docs/testing.md"), "From an empty folder to the built plugin") {
		r.do("docs/testing.md", step)
	}
}

func steps(t *testing.T, path, heading string) []tutorial.Step {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	found, err := tutorial.Steps(string(text), heading)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// environment has cidlc on the path, and everything else from this machine.
func environment(t *testing.T, checkout string) []string {
	t.Helper()
	bin := t.TempDir()
	build := exec.Command("go", "build", "-o", bin+string(filepath.Separator), "./cmd/cidlc")
	build.Dir = checkout
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	goCache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	return append(os.Environ(),
		"LUMI="+checkout, "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"), "GOPROXY=off", "GOSUMDB=off",
		"GOFLAGS=", "GOWORK=off", "XDG_CACHE_HOME="+t.TempDir(), "GOCACHE="+strings.TrimSpace(string(goCache)))
}

// reader is somebody who follows the page.
type reader struct {
	t      *testing.T
	cwd    string
	env    []string
	output string // of the last commands
}

func (r *reader) do(page string, step tutorial.Step) {
	r.t.Helper()
	switch step.Kind {
	case tutorial.RunCommands:
		r.run(step)
	case tutorial.WriteFile:
		name := filepath.Join(r.cwd, filepath.FromSlash(step.File))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			r.t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(step.Text), 0o644); err != nil {
			r.t.Fatal(err)
		}
	case tutorial.ExpectOutput:
		if !resembles(step.Text, r.output) {
			r.t.Errorf("%s:%d: the output is another:\n%s", page, step.Line, r.output)
		}
	}
}

// run runs commands, of which a test may fail, and remembers the folder that they end in. Their errors count as output.
func (r *reader) run(step tutorial.Step) {
	r.t.Helper()
	where := filepath.Join(r.t.TempDir(), "cwd")
	cmd := exec.Command("bash", "-uo", "pipefail", "-c", step.Text+"pwd >"+where)
	cmd.Dir, cmd.Env = r.cwd, r.env
	output, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("line %d: %v\n%s", step.Line, err, output)
	}
	cwd, err := os.ReadFile(where)
	if err != nil {
		r.t.Fatal(err)
	}
	r.cwd, r.output = strings.TrimSpace(string(cwd)), string(output)
}

// varying is what differs from run to run, or with each change of the kit: durations, and lines of the kit's own.
var varying = regexp.MustCompile(`\d+\.\d+s|harness\.go:\d+|\(cached\)`)

// resembles reports whether the output is the expected one. A line with … alone stands for any number of lines.
func resembles(want, got string) bool {
	lines := func(s string) []string {
		s = varying.ReplaceAllString(s, "0s")
		all := strings.Split(strings.TrimSpace(s), "\n")
		for i, line := range all {
			all[i] = strings.TrimSpace(line)
		}
		return all
	}
	return match(lines(want), slices.DeleteFunc(lines(got), func(line string) bool {
		return strings.HasPrefix(line, "go: ") // what "go get" says of versions
	}))
}

func match(want, got []string) bool {
	switch {
	case len(want) == 0:
		return len(got) == 0
	case want[0] == "…":
		return match(want[1:], got) || len(got) > 0 && match(want, got[1:])
	}
	return len(got) > 0 && want[0] == got[0] && match(want[1:], got[1:])
}
