package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/pflag"

	"github.com/lumi-idl/lumi/runtime/providertest"
)

var update = flag.Bool("update", false, "write the golden files in the scripts instead of comparing with them")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"lumi": main})
}

// TestScripts runs testdata/script/*.txtar, each of which is a bug report and its test. With -update, what the scripts
// compare output with is rewritten.
func TestScripts(t *testing.T) {
	plugin := testPlugin(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			env.Setenv("PLUGIN", plugin)
			env.Setenv("PATH", env.Getenv("PATH")+string(os.PathListSeparator)+filepath.Dir(plugin))
			return nil
		},
	})
}

// testPlugin builds the plugin that the tests test, and returns its path.
func testPlugin(t *testing.T) string {
	return providertest.Build(t, "./testdata/lumi-resource-library")
}

// TestExamples holds that every command has examples, and that each runs in a Git repository that holds
// testdata/examples: the input may be wrong in them, but not the use. Those which need a program that is not installed
// are left out.
func TestExamples(t *testing.T) {
	files, err := filepath.Abs("testdata/examples")
	if err != nil {
		t.Fatal(err)
	}
	dir, plugin := t.TempDir(), testPlugin(t)
	for _, c := range leaves(newRoot(&environment{})) {
		lines := describe(c).Examples
		if len(lines) == 0 || c.Short == "" || c.Long == "" {
			t.Errorf("'%s' has no help with an example", c.CommandPath())
		}
		var script strings.Builder
		for _, line := range lines {
			if !strings.Contains(line, c.CommandPath()) {
				t.Errorf("%q is no example of '%s'", line, c.CommandPath())
			}
			if tool := missingTool(line); tool != "" {
				t.Logf("there is no %s, so this was not run: %s", tool, line)
				continue
			}
			fmt.Fprintf(&script, "exec bash -o pipefail -c '%s; test $? -lt 2'\n", strings.ReplaceAll(line, "'", "''"))
		}
		if err := os.WriteFile(filepath.Join(dir, name(c)+".txtar"), []byte(script.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	testscript.Run(t, testscript.Params{
		Dir: dir,
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", env.Getenv("PATH")+string(os.PathListSeparator)+filepath.Dir(plugin))
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
			return nil
		},
	})
}

// missingTool returns a program that a line needs and that is not there.
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

// TestManual holds that docs/lumi.md names every command, and all flags of those that it has a section for.
func TestManual(t *testing.T) {
	content, err := os.ReadFile("../../docs/lumi.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range leaves(newRoot(&environment{})) {
		path := c.CommandPath()
		if !strings.Contains(string(content), "`"+path+"`") {
			t.Errorf("docs/lumi.md does not name '%s'", path)
		}
		_, section, found := strings.Cut(string(content), "\n## "+path+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if found && !strings.Contains(section, "--"+f.Name) {
				t.Errorf("docs/lumi.md does not say what '%s --%s' does", path, f.Name)
			}
		})
	}
}
