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
	readme := must.Get(os.ReadFile(filepath.Join(checkout, "README.md")))(t)
	steps := must.Get(tutorial.Steps(string(readme), "Tutorial: five minutes from an empty folder"))(t)
	r := &tutorial.Reader{Page: "README.md", Dir: t.TempDir(), Env: environment(t, checkout)}
	r.Do(t, steps...)
}

// environment is what the paragraph before the first block leaves behind: the checkout, and what "make dist" puts into
// a folder, made here apart from the checkout, where other tests may be at work.
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

// goCache is where Go keeps what it has built, said once so that another XDG_CACHE_HOME does not move it.
func goCache(t *testing.T) string {
	t.Helper()
	return strings.TrimSpace(node.Run(t, ".", "go", "env", "GOCACHE"))
}

// TestExcerpts holds that what README.md shows first is part of its tutorial, up to indentation. … is what is left out.
func TestExcerpts(t *testing.T) {
	t.Parallel()
	first, rest, _ := strings.Cut(string(must.Get(os.ReadFile("../../../README.md"))(t)), "\n## ")
	found := 0
	for line := range strings.Lines(first) {
		if line, ok := strings.CutPrefix(line, "    "); ok && line != "…\n" {
			found++
			if text := strings.TrimSpace(line); text != "…" && !strings.Contains(rest, text+"\n") {
				t.Errorf("the tutorial has no line %q", text)
			}
		}
	}
	if found < 20 {
		t.Errorf("found %d lines", found)
	}
}

// TestDist checks that 'make dist PLATFORMS=' uses what the build cache has: -trimpath and CGO_ENABLED=0 have entries of their own.
func TestDist(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("there is no make")
	}
	for platforms, separate := range map[string]bool{"": false, "linux/amd64": true} {
		plan := node.Run(t, "../../..", "make", "-n", "dist", "PLATFORMS="+platforms)
		plan, _, _ = strings.Cut(plan, "-o dist/ ") // What follows is the loop over the platforms.
		for _, flag := range []string{"-trimpath", "CGO_ENABLED=0"} {
			if strings.Contains(plan, flag) != separate {
				t.Errorf("PLATFORMS=%s: %s is there: %t, want %t\n%s", platforms, flag, !separate, separate, plan)
			}
		}
	}
}
