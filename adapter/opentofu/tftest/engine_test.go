package tftest_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/test/kit/must"
)

// engine runs the commands of OpenTofu or Terraform in a folder.
type engine struct {
	t         *testing.T
	path, dir string
	env       []string
}

// run runs a command, checks its exit code, and returns its output.
func (e *engine) run(code int, args ...string) string {
	e.t.Helper()
	cmd := exec.Command(e.path, append(args, "-no-color")...)
	cmd.Dir, cmd.Env = e.dir, e.env
	out, err := cmd.CombinedOutput()
	var exited *exec.ExitError
	if err != nil && !errors.As(err, &exited) || cmd.ProcessState.ExitCode() != code {
		e.t.Fatalf("%v: %v, expected code %d\n%s", args, err, code, out)
	}
	return string(out)
}

// shows is run, and checks that the output contains a text.
func (e *engine) shows(text string, code int, args ...string) {
	e.t.Helper()
	if out := e.run(code, args...); !strings.Contains(out, text) {
		e.t.Errorf("%v: expected %q in\n%s", args, text, out)
	}
}

// write writes the configuration.
func (e *engine) write(resources string) {
	e.t.Helper()
	const head = "terraform {\n  required_providers {\n    local = { source = \"lumi/local\" }\n  }\n}\n"
	must.Do(e.t, os.WriteFile(filepath.Join(e.dir, "main.tf"), []byte(head+resources), 0o600))
}

// page is a configuration with a path and a content.
func page(path, content string) string {
	return fmt.Sprintf(`
resource "local_file" "page" {
  path    = %q
  content = %q
}
resource "local_file" "copy" {
  path   = "copy.html"
  source = { path = "source.html" }
  mode   = "600"
}
resource "local_directory" "pages" { path = "pages" }
resource "local_random_string" "password" {
  name   = "password"
  length = 24
}
resource "local_command" "greeting" {
  name     = "greeting"
  create   = "echo hello"
  update   = "echo hello again"
  triggers = { page = local_file.page.checksum, list = [1, "two"] }
}
output "greeting" { value = local_command.greeting.stdout }
`, path, content)
}

// The real engines, where they are, take resources through creation, update, replacement, drift, import, and deletion.
func TestEngines(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	build := exec.Command("go", "build", "-o", bin, "./internal/terraform-provider-local")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	settings := filepath.Join(bin, "tofurc")
	must.Do(t, os.WriteFile(settings, fmt.Appendf(nil, "provider_installation {\n  dev_overrides { \"lumi/local\" = %q }\n  direct {}\n}\n", bin), 0o600))
	for _, name := range []string{"tofu", "terraform"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, err := exec.LookPath("../../../bin/tofu/" + name)
			if err != nil {
				path, err = exec.LookPath(name)
			}
			if err != nil {
				t.Skipf("NOT TESTED with %s: %v; 'make tofu' builds OpenTofu", name, err)
			}
			e := &engine{t, must.Get(filepath.Abs(path))(t), t.TempDir(), append(os.Environ(), "TF_CLI_CONFIG_FILE="+settings, "CHECKPOINT_DISABLE=1", "TF_IN_AUTOMATION=1")}
			must.Do(t, os.WriteFile(filepath.Join(e.dir, "source.html"), []byte("one"), 0o600))
			e.live()
		})
	}
}

func (e *engine) live() {
	e.t.Helper()
	unchanged := func() {
		e.t.Helper()
		e.shows("No changes.", 0, "plan", "-detailed-exitcode")
	}
	file := func(name, want string) {
		e.t.Helper()
		if got := string(must.Get(os.ReadFile(filepath.Join(e.dir, name)))(e.t)); got != want {
			e.t.Errorf("%s contains %q, expected %q", name, got, want)
		}
	}
	apply := func(want string, args ...string) {
		e.t.Helper()
		e.shows(want, 0, append([]string{"apply", "-auto-approve", "-input=false"}, args...)...)
	}
	e.write(strings.Replace(page("a.html", "one"), "length = 24", "length = 0", 1))
	e.shows("must be at least 1, found 0", 1, "validate")
	e.write(page("a.html", "one"))
	e.run(0, "validate")
	apply("5 added, 0 changed, 0 destroyed")
	file("a.html", "one")
	unchanged()
	e.write(page("a.html", "two"))
	apply("0 added, 2 changed, 0 destroyed")
	file("a.html", "two")
	e.shows("hello again", 0, "output")
	unchanged()
	must.Do(e.t, os.WriteFile(filepath.Join(e.dir, "source.html"), []byte("two"), 0o600))
	apply("0 added, 1 changed, 0 destroyed")
	file("copy.html", "two")
	e.write(page("b.html", "two"))
	e.shows("must be replaced", 2, "plan", "-detailed-exitcode")
	apply("1 added, 0 changed, 1 destroyed")
	file("b.html", "two")
	unchanged()
	must.Do(e.t, os.WriteFile(filepath.Join(e.dir, "b.html"), []byte("changed"), 0o600))
	e.shows("2 to change", 2, "plan", "-detailed-exitcode")
	apply("0 added, 1 changed, 0 destroyed")
	file("b.html", "two")
	must.Do(e.t, os.Remove(filepath.Join(e.dir, "b.html")))
	apply("1 added, 0 changed, 0 destroyed")
	apply("1 added, 0 changed, 1 destroyed", "-replace=local_random_string.password")
	if out := e.run(0, "show"); !strings.Contains(out, "(sensitive value)") {
		e.t.Errorf("expected a sensitive value in\n%s", out)
	}
	e.run(0, "state", "rm", "local_directory.pages")
	e.run(0, "import", "local_directory.pages", filepath.Join(e.dir, "pages"))
	e.run(0, "apply", "-auto-approve")
	unchanged()
	apply("5 destroyed", "-destroy")
	for _, name := range []string{"b.html", "copy.html", "pages"} {
		if _, err := os.Stat(filepath.Join(e.dir, name)); !errors.Is(err, os.ErrNotExist) {
			e.t.Errorf("%s is left: %v", name, err)
		}
	}
}
