package tasks_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/runtime/providertest"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// operator runs commands in a copy of the example.
type operator struct {
	*testing.T
	lumi, dir string
	env       []string
}

func TestUseCases(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := &operator{t, providertest.Build(t, "../../cmd/lumi"), dir, append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(dir, ".state"))}
	must.Do(t, os.CopyFS(dir, os.DirFS(".")))
	o.run("release add shop 1.4")
	o.run("plugin add reports 1.0")
	o.run("use --release=shop --plugin=reports")

	// Run the default deployment.
	o.run("upload --release=shop --file=default.yaml")
	o.contains(o.run("run"), "default[1] is done: 11 done.")
	o.has("nodes/lb-1/backends", "site 1.4")
	o.contains(o.run("run --dry-run"), "database shell db-1 unchanged prepared")

	// Run a task graph with three layers.
	o.run("upload --release=shop --file=usecase1/release.yaml")
	o.run("upload --file=usecase1/cluster.yaml")
	o.run("upload --plugin=reports --file=usecase1/plugin.yaml")
	explained := o.run("explain --type=usecase1")
	for _, layer := range []string{"release shop 1.4", "cluster prod", "plugin reports 1.0"} {
		o.contains(explained, layer)
	}
	o.contains(o.run("run --type=usecase1"), "usecase1[2] is done: 5 done.")
	o.has("nodes/lb-1/reports", "db-1: schema 1\nweb-1: site 1.4\nweb-2: site 1.4\nweb-3: site 1.4\n")

	// Apply a fix to two of the five nodes.
	o.run("upload --file=fix-1234.yaml")
	o.contains(o.run("run --type=fix-1234 --node=web-1,web-3"), "fix-1234[3] is done: 4 done.")
	if fixed, _ := filepath.Glob(filepath.Join(dir, "nodes", "*", "fix-1234.conf")); len(fixed) != 2 {
		t.Errorf("nodes with the fix = %v, want 2", fixed)
	}

	// Run a rolling upgrade, with web-3 frozen. Completed tasks are skipped until the version changes.
	o.run("upload --file=upgrade.yaml")
	o.contains(o.run("run --type=upgrade"), "upgrade[4] is done: 5 done, 1 skipped.")
	o.contains(o.run("run --type=upgrade"), "upgrade[5] is done: 2 done, 4 skipped.")
	inventory := must.Get(os.ReadFile(filepath.Join(dir, "inventory.yaml")))(t)
	inventory = []byte(strings.Replace(string(inventory), `"1.4"`, `"1.5"`, 1))
	must.Do(t, os.WriteFile(filepath.Join(dir, "inventory.yaml"), inventory, 0o644))
	o.contains(o.run("run --type=upgrade"), "upgrade[6] is done: 5 done, 1 skipped.")
	o.has("nodes/db-1/schema", "schema for 1.5\n")
	o.has("nodes/lb-1/backends", "site 1.5\nsite 1.5\nsite 1.4\n")
}

// run runs 'lumi tasks', which must succeed, and returns its output.
func (o *operator) run(args string) string {
	o.Helper()
	c := exec.CommandContext(o.Context(), o.lumi, append([]string{"tasks"}, strings.Fields(args)...)...)
	c.Dir, c.Env = o.dir, o.env
	out, err := c.CombinedOutput()
	if err != nil {
		o.Fatalf("lumi tasks %s: %s\n%s", args, err, out)
	}
	return string(out)
}

func (o *operator) contains(out, want string) {
	o.Helper()
	if !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
		o.Errorf("output does not contain %q:\n%s", want, out)
	}
}

// has checks that a file starts with the given text.
func (o *operator) has(name, want string) {
	o.Helper()
	text, err := os.ReadFile(filepath.Join(o.dir, name))
	if err != nil || !strings.HasPrefix(string(text), want) {
		o.Errorf("content of %s = %q, %v, want prefix %q", name, text, err, want)
	}
}
