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

// environment returns the environment that the tutorial's first commands set up: the checkout, and the output of "make
// dist" in a directory shared with other tests.
func environment(t *testing.T, checkout string) []string {
	t.Helper()
	dist := t.TempDir()
	commands.Build(t, checkout, dist, "cmd/cidlc", "cmd/lumi")
	node.Run(t, node.Package(t, checkout), "npm", "pack", "--silent", "--ignore-scripts", "--pack-destination="+dist)

	return append(os.Environ(),
		"LUMI="+checkout, "DIST="+dist, "PATH="+dist+string(filepath.ListSeparator)+os.Getenv("PATH"),
		"GOPROXY=off", "GOSUMDB=off", "GOFLAGS=", "GOWORK=off", "npm_config_offline=true", "npm_config_update_notifier=false",
		"npm_config_loglevel=error", // a warning about the user's configuration is not output of the tutorial
		"XDG_CACHE_HOME="+t.TempDir(), "GOCACHE="+goCache(t))
}

// goCache is Go's cache folder, evaluated once, so that a changed XDG_CACHE_HOME does not move it.
func goCache(t *testing.T) string {
	t.Helper()
	return strings.TrimSpace(node.Run(t, ".", "go", "env", "GOCACHE"))
}

// TestExcerpts checks that the example in README.md is part of the tutorial.
func TestExcerpts(t *testing.T) {
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
				t.Errorf("tutorial does not contain line %q", text)
			}
		}
	}
	if found < 15 {
		t.Errorf("got %d lines", found)
	}
}

// TestDist checks that 'make dist PLATFORMS=' can reuse the build cache, which has separate entries for -trimpath and
// CGO_ENABLED=0.
func TestDist(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("make not found")
	}
	for platforms, separate := range map[string]bool{"": false, "linux/amd64": true} {
		plan := node.Run(t, "../../..", "make", "-n", "dist", "PLATFORMS="+platforms)
		plan, _, _ = strings.Cut(plan, "-o dist/ ") // The rest is the loop over the platforms.
		for _, flag := range []string{"-trimpath", "CGO_ENABLED=0"} {
			if strings.Contains(plan, flag) != separate {
				t.Errorf("PLATFORMS=%s: %s used: got %t, want %t\n%s", platforms, flag, !separate, separate, plan)
			}
		}
	}
}
