package tutorial_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/test/kit/commands"
	"github.com/lumi-idl/lumi/test/kit/must"
	"github.com/lumi-idl/lumi/test/kit/node"
	"github.com/lumi-idl/lumi/test/kit/tutorial"
)

func TestTutorial(t *testing.T) {
	t.Parallel()
	checkout := must.Get(filepath.Abs("../../.."))(t)
	page := must.Get(os.ReadFile(filepath.Join(checkout, "docs", "tutorial.md")))(t)
	steps := must.Get(tutorial.Steps(string(page), ""))(t)
	r := &tutorial.Reader{Page: "docs/tutorial.md", Dir: t.TempDir(), Env: environment(t, checkout)}
	r.Do(t, steps...)
}

// environment returns the environment variables set by the first commands of the tutorial: LUMI is the checkout, and DIST a
// folder with the output of 'make dist'.
func environment(t *testing.T, checkout string) []string {
	t.Helper()
	dist := t.TempDir()
	commands.Build(t, checkout, dist, "cmd/cidlc", "cmd/lumi")
	node.Run(t, node.Package(t, checkout), "npm", "pack", "--silent", "--ignore-scripts", "--pack-destination="+dist)

	return append(os.Environ(),
		"LUMI="+checkout, "DIST="+dist, "PATH="+dist+string(filepath.ListSeparator)+os.Getenv("PATH"),
		"GOPROXY=off", "GOSUMDB=off", "GOFLAGS=", "GOWORK=off", "npm_config_offline=true", "npm_config_update_notifier=false",
		"npm_config_loglevel=error", // suppresses warnings about the user's configuration
		"XDG_CACHE_HOME="+t.TempDir(), "GOCACHE="+goCache(t))
}

// goCache returns the path of Go's build cache. Tests pass it to child processes, since the default depends on
// XDG_CACHE_HOME.
func goCache(t *testing.T) string {
	t.Helper()
	return strings.TrimSpace(node.Run(t, ".", "go", "env", "GOCACHE"))
}

// Every line of the example in README.md occurs in docs/tutorial.md.
func TestReadmeExample(t *testing.T) {
	t.Parallel()
	page := string(must.Get(os.ReadFile("../../../docs/tutorial.md"))(t))
	_, example, _ := strings.Cut(string(must.Get(os.ReadFile("../../../README.md"))(t)), "\n## Example\n")
	example, _, _ = strings.Cut(example, "\n## ")
	found, inBlock := 0, false
	for line := range strings.Lines(example) {
		text := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(text, "```"):
			inBlock = !inBlock
		case inBlock && text != "…":
			found++
			if !strings.Contains(page, text+"\n") {
				t.Errorf("docs/tutorial.md does not contain line %q of README.md", text)
			}
		}
	}
	if found < 15 {
		t.Errorf("example in README.md has %d lines, want at least 15", found)
	}
}

// 'make dist PLATFORMS=' sets neither -trimpath nor CGO_ENABLED=0, so that it can reuse entries of the build cache.
func TestDist(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("make not found")
	}
	for platforms, separate := range map[string]bool{"": false, "linux/amd64": true} {
		plan := node.Run(t, "../../..", "make", "-n", "dist", "PLATFORMS="+platforms)
		plan, _, _ = strings.Cut(plan, "-o dist/ ") // drop the loop over the platforms
		for _, flag := range []string{"-trimpath", "CGO_ENABLED=0"} {
			if strings.Contains(plan, flag) != separate {
				t.Errorf("make dist PLATFORMS=%s sets %s = %t, want %t:\n%s", platforms, flag, !separate, separate, plan)
			}
		}
	}
}
