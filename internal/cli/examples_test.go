package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/pflag"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/runtime/providertest"
	"github.com/lumi-idl/lumi/test/kit/must"
	"github.com/lumi-idl/lumi/test/kit/node"
)

// TestExamples checks that every command has examples, and runs each in a Git repository with testdata/examples. Errors
// in the input are accepted, but usage errors are not. Examples of deployment commands run in a workspace. Examples
// that need a program that is not installed are skipped.
func TestExamples(t *testing.T) {
	files := must.Get(filepath.Abs("../../cmd/lumi/testdata/examples"))(t)
	dir, plugin, localPlugin := t.TempDir(), library(t), local(t)
	programs := examplePrograms(t)
	deploys := map[string]bool{} // by script name
	for _, c := range leaves(newRoot(&console.Console{})) {
		lines := describe(c).Examples
		if len(lines) == 0 || c.Short == "" || c.Long == "" {
			t.Errorf("command '%s' lacks examples or a description", c.CommandPath())
		}
		fine := "test $? -lt 2"
		if deploys["script-"+name(c)] = usesEnvironment(c) && !isTasks(c); c.Annotations["3"] != "" {
			fine = "test $? -ne 2"
		}
		var script strings.Builder
		for _, line := range lines {
			if !strings.Contains(line, c.CommandPath()) {
				t.Errorf("example %q does not run '%s'", line, c.CommandPath())
			}
			if tool := missingTool(line); tool != "" {
				t.Logf("%s is not installed; skipped: %s", tool, line)
				continue
			}
			if name(c) == "serve" && !strings.Contains(line, "--new-token") && !strings.Contains(line, "--openapi") {
				t.Logf("skipped, since the server does not end: %s", line)
				continue
			}
			if programs == "" && (name(c) == "plan" || name(c) == "deploy") {
				t.Logf("lumi-program is not installed; skipped: %s", line)
				continue
			}
			fmt.Fprintf(&script, "exec bash -o pipefail -c '%s; %s'\n", strings.ReplaceAll(line, "'", "''"), fine)
		}
		must.Do(t, os.WriteFile(filepath.Join(dir, name(c)+".txtar"), []byte(script.String()), 0o644))
	}
	testscript.Run(t, testscript.Params{
		Dir: dir,
		Setup: func(env *testscript.Env) error {
			path := []string{env.Getenv("PATH"), filepath.Dir(plugin), filepath.Dir(localPlugin)}
			env.Setenv("PATH", strings.Join(path, string(os.PathListSeparator)))
			env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, ".state")) // stores the state of tasks on this machine
			if err := os.CopyFS(env.WorkDir, os.DirFS(files)); err != nil {
				return err
			}
			for _, args := range [][]string{
				{"init", "-q"}, {"add", "."},
				{"-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-q", "-m", "Begin"},
			} {
				git := exec.Command("git", args...)
				git.Dir, git.Env = env.WorkDir, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
				if out, err := git.CombinedOutput(); err != nil {
					return fmt.Errorf("git %v: %w\n%s", args, err, out)
				}
			}
			if script := filepath.Base(env.WorkDir); deploys[script] {
				return deployExamples(env, script, programs)
			} else if strings.HasPrefix(script, "script-tasks ") {
				return tasksExamples(env)
			}
			return nil
		},
	})
}

// examplePrograms compiles the programs in examples/local. It returns a folder as installed by npm, or "" if Node.js or
// the TypeScript compiler is missing.
func examplePrograms(t *testing.T) string {
	checkout := must.Get(filepath.Abs("../.."))(t)
	_, noNode := exec.LookPath("node")
	if _, err := os.Stat(filepath.Join(checkout, "runtime", "typescript", "node_modules", "typescript")); noNode != nil || err != nil {
		return ""
	}
	programs, _ := node.Programs(t, checkout, "local")
	return filepath.Dir(filepath.Dir(filepath.Dir(programs)))
}

// deployExamples turns a script's folder into a workspace. The module site has been deployed twice. The deployment of
// the module shop failed or, for 'lumi resolve', is waiting for an answer.
func deployExamples(env *testscript.Env, script, programs string) error {
	// Unlike a passphrase, this key takes no time to derive.
	yaml := "modules: {site: programs/site/main.js}\nenvironment: dev\nenvironments: {dev: {key: \"exec: sh key.sh\"}, prod: }\n"
	err := errors.Join(os.WriteFile(filepath.Join(env.WorkDir, "Lumi.yaml"), []byte(yaml), 0o644),
		os.WriteFile(filepath.Join(env.WorkDir, "key.sh"), []byte("tr A-Za-z N-ZA-Mn-za-m"), 0o644))
	if programs == "" {
		err = errors.Join(err, os.MkdirAll(filepath.Join(env.WorkDir, "programs", "site"), 0o755))
	} else {
		err = errors.Join(err, os.CopyFS(env.WorkDir, os.DirFS(filepath.Join(programs, "programs", "bin"))),
			os.Symlink(filepath.Join(programs, "node_modules"), filepath.Join(env.WorkDir, "node_modules")),
			os.WriteFile(filepath.Join(env.WorkDir, "package.json"), []byte(`{"type": "module"}`), 0o644))
	}
	if err != nil {
		return err
	}
	graph, err := os.ReadFile("../../examples/local/programs/site/graph.json")
	if err != nil {
		return err
	}
	site := strings.ReplaceAll(string(graph), "local-example", "site")
	command := "exit 1"
	if script == "script-resolve" {
		command = "test -e asked || { touch asked; kill -9 $PPID; }"
	}
	shop := `{"package": "shop", "resources": {"urn:lumi:dev::shop:index::local:index:Command::index": {
		"type": "local:index:Command", "properties": {"create": "` + command + `", "name": "index"}}}}`
	for _, desired := range []string{strings.Replace(site, "It works", "Soon", 1), site, shop} {
		file := filepath.Join(env.T().(testing.TB).TempDir(), "desired.json")
		if err := os.WriteFile(file, []byte(desired), 0o644); err != nil {
			return err
		}
		lumi := exec.Command("lumi", "deploy", file, "--yes")
		lumi.Dir, lumi.Env = env.WorkDir, env.Vars
		out, err := lumi.CombinedOutput()
		if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || desired != shop || exit.ExitCode() == 2) {
			return fmt.Errorf("lumi deploy: %w\n%s", err, out)
		}
	}
	return nil
}

// tasksExamples turns a script's folder into a workspace with task graphs and a run.
func tasksExamples(env *testscript.Env) error {
	graph := []byte("- {id: install, type: shell, roles: [web], parameters: {cmd: echo installed}}\n")
	err := errors.Join(os.WriteFile(filepath.Join(env.WorkDir, "Lumi.yaml"), []byte("environment: dev\n"), 0o644),
		os.WriteFile(filepath.Join(env.WorkDir, "tasks.yaml"), graph, 0o644),
		os.WriteFile(filepath.Join(env.WorkDir, "inventory.yaml"),
			[]byte("nodes: {web-1: {connection: local, roles: [web]}, web-2: {connection: local, roles: [web]}}\n"), 0o644))
	for _, args := range []string{
		"release add shop 1.0", "release add shop 1.2", "plugin add monitoring 0.9", "plugin add backup 2", "plugin add shop 1.0",
		"upload --file=tasks.yaml", "upload --type=fix-1234 --file=tasks.yaml", "upload --release=shop@1.2 --file=tasks.yaml",
		"upload --type=upgrade --file=tasks.yaml", "use --release=shop@1.2", "run",
	} {
		lumi := exec.Command("lumi", append([]string{"tasks"}, strings.Fields(args)...)...)
		lumi.Dir, lumi.Env = env.WorkDir, env.Vars
		out, failed := lumi.CombinedOutput()
		if err = errors.Join(err, failed); err != nil {
			return fmt.Errorf("lumi tasks %s: %w\n%s", args, err, out)
		}
	}
	return nil
}

// missingTool returns a program that a line needs but that is not installed.
func missingTool(line string) string {
	line = regexp.MustCompile(`'[^']*'`).ReplaceAllString(line, "QUOTED")
	for _, part := range regexp.MustCompile(`&&|[|]`).Split(line, -1) {
		words := strings.Fields(part)
		if len(words) == 0 || words[0] == "lumi" || words[0] == "source" {
			continue
		}
		if _, err := exec.LookPath(words[0]); err != nil {
			return words[0]
		}
	}
	return ""
}

// TestManual checks that docs/lumi.md lists every command, and all flags of commands that have a section.
func TestManual(t *testing.T) {
	content := must.Get(os.ReadFile("../../docs/lumi.md"))(t)
	for _, c := range leaves(newRoot(&console.Console{})) {
		path := c.CommandPath()
		if !strings.Contains(string(content), "`"+path+"`") {
			t.Errorf("docs/lumi.md does not mention '%s'", path)
		}
		_, section, found := strings.Cut(string(content), "\n## "+path+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if found && !strings.Contains(section, "--"+f.Name) {
				t.Errorf("docs/lumi.md does not mention '%s --%s'", path, f.Name)
			}
		})
	}
}

// library builds the test plugin and returns its path.
func library(t *testing.T) string {
	return providertest.Build(t, "../../cmd/lumi/testdata/lumi-resource-library")
}

// local builds the plugin of package local and returns its path.
func local(t *testing.T) string {
	return providertest.Build(t, "../../examples/local/provider/lumi-resource-local")
}
