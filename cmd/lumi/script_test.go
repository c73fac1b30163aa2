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
)

var update = flag.Bool("update", false, "write the golden files in the scripts instead of comparing with them")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"lumi": main})
}

// TestScripts runs testdata/script/*.txtar, each of which is a bug report and its test. With -update, what the scripts
// compare output with is rewritten.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script", UpdateScripts: *update})
}

// TestExamples holds that every command has examples, and that each runs in a Git repository that holds
// testdata/examples: the input may be wrong in them, but not the use. Those which need a program that is not installed
// are left out.
func TestExamples(t *testing.T) {
	files, err := filepath.Abs("testdata/examples")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, c := range commands() {
		if c.hidden {
			continue
		}
		if len(c.examples) == 0 || c.short == "" || c.long == "" {
			t.Errorf("'lumi %s' has no help with an example", c.name)
		}
		var script strings.Builder
		for _, e := range c.examples {
			if !strings.Contains(e.line, "lumi "+c.name) {
				t.Errorf("%q is no example of 'lumi %s'", e.line, c.name)
			}
			if tool := missingTool(e.line); tool != "" {
				t.Logf("there is no %s, so this was not run: %s", tool, e.line)
				continue
			}
			fmt.Fprintf(&script, "exec bash -o pipefail -c '%s; test $? -lt 2'\n", strings.ReplaceAll(e.line, "'", "''"))
		}
		if err := os.WriteFile(filepath.Join(dir, c.name+".txtar"), []byte(script.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	testscript.Run(t, testscript.Params{
		Dir: dir,
		Setup: func(env *testscript.Env) error {
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
	for _, c := range commands() {
		if c.hidden {
			continue
		}
		if !strings.Contains(string(content), "`lumi "+c.name+"`") {
			t.Errorf("docs/lumi.md does not name 'lumi %s'", c.name)
		}
		_, section, found := strings.Cut(string(content), "\n## lumi "+c.name+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		flags, shared, _ := c.flagSet()
		flags.VisitAll(func(f *pflag.Flag) {
			if found && !isCommon(f.Name) && !strings.Contains(section, "--"+f.Name) {
				t.Errorf("docs/lumi.md does not say what 'lumi %s --%s' does", c.name, f.Name)
			}
		})
		if *shared != (common{color: "auto"}) {
			t.Errorf("'lumi %s' begins with %+v", c.name, *shared)
		}
	}
}

func isCommon(flag string) bool { return flag == "help" || flag == "json" || flag == "color" }
