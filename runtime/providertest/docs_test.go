package providertest_test

import (
	"os"
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
	text, err := os.ReadFile(filepath.Join(checkout, "docs/testing.md"))
	if err != nil {
		t.Fatal(err)
	}
	steps, err := tutorial.Steps(string(text), "From an empty folder to the built plugin")
	if err != nil {
		t.Fatal(err)
	}
	r := &tutorial.Reader{
		Page: "docs/testing.md", Dir: t.TempDir(), Env: tutorial.Environment(t, checkout), Resembles: resembles,
	}
	r.Do(t, steps...)
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
