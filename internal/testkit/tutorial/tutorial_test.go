package tutorial_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lumi-idl/lumi/internal/testkit/node"
	"github.com/lumi-idl/lumi/internal/testkit/tutorial"
)

// TestTutorial does what the README's tutorial says, with the real tools, in an empty folder and without a network.
func TestTutorial(t *testing.T) {
	t.Parallel()
	checkout, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(filepath.Join(checkout, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	steps, err := tutorial.Steps(string(readme), "Tutorial: five minutes from an empty folder")
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{t: t, page: "README.md", cwd: t.TempDir(), env: environment(t, checkout)}
	for _, step := range steps {
		r.do(step)
	}
}

// reader follows the steps of a page.
type reader struct {
	t    *testing.T
	page string
	cwd  string
	env  []string
	// output is what the last commands printed.
	output string
}

func (r *reader) do(step tutorial.Step) {
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
		if diff := cmp.Diff(step.Text, r.output); diff != "" {
			r.t.Errorf("%s:%d: the output is another (-want +got):\n%s", r.page, step.Line, diff)
		}
	}
}

// run runs commands and remembers the folder that they end in.
func (r *reader) run(step tutorial.Step) {
	r.t.Helper()
	where := filepath.Join(r.t.TempDir(), "cwd")
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", step.Text+"pwd >"+where)
	cmd.Dir, cmd.Env = r.cwd, r.env
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		r.t.Fatalf("%s:%d: %v\n%s%s", r.page, step.Line, err, &stdout, &stderr)
	}
	cwd, err := os.ReadFile(where)
	if err != nil {
		r.t.Fatal(err)
	}
	r.cwd, r.output = strings.TrimSpace(string(cwd)), stdout.String()
}

// environment is what the paragraph before the first block leaves behind: the checkout, and what "make dist" puts into
// a folder, made here apart from the checkout, where other tests may be at work.
func environment(t *testing.T, checkout string) []string {
	t.Helper()
	dist := t.TempDir()
	node.Run(t, checkout, "go", "build", "-o", filepath.Join(dist, "cidlc"), "./cmd/cidlc")

	node.Run(t, node.Package(t, checkout), "npm", "pack", "--silent", "--ignore-scripts", "--pack-destination="+dist)

	return append(os.Environ(),
		"LUMI="+checkout, "DIST="+dist, "PATH="+dist+string(filepath.ListSeparator)+os.Getenv("PATH"),
		"GOPROXY=off", "GOSUMDB=off", "GOFLAGS=", "GOWORK=off", "npm_config_offline=true", "npm_config_update_notifier=false",
		"XDG_CACHE_HOME="+t.TempDir(), "GOCACHE="+goCache(t))
}

// goCache is where Go keeps what it has built, said once so that another XDG_CACHE_HOME does not move it.
func goCache(t *testing.T) string {
	t.Helper()
	return strings.TrimSpace(node.Run(t, ".", "go", "env", "GOCACHE"))
}
