package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/deployments"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// brokenInput is invalid LumiGL with an error that only a guess can fix. stateInput is input for 'lumi convert'.
// wrongFixture contains a resource that cannot be created.
const (
	brokenInput  = `{"vertices": {"a": {"x": {"#ref": "b"}}}}`
	wrongFixture = `{"vertices": {"a": {"type": "library:index:Card", "name": "a", "create": {"name": "a"}}}}`
	stateInput   = `{"version": 4, "terraform_version": "1.9.0", "serial": 1, "lineage": "l", "resources": []}`
)

// TestExitCodes compares the exit codes of commands with their help and with docs/lumi.md.
func TestExitCodes(t *testing.T) {
	plugin := library(t)
	missing := filepath.Join(t.TempDir(), "missing.json")
	type try struct {
		args, stdin string
		want        int
	}
	tries := map[string][]try{
		"check": {{"-", smallGraph, 0}, {"-", brokenInput, 1}, {missing, "", 2}, {missing + " -", brokenGraph, 2}},
		"fmt": {
			{"-", smallGraph, 0}, {"-", brokenInput, 1}, {"--check -", smallGraph, 1}, {"--check -", brokenInput, 1}, {missing, "", 2},
		},
		"show":  {{"-", smallGraph, 0}, {"- a", smallGraph, 0}, {"-", brokenInput, 1}, {missing, "", 2}, {"- b", smallGraph, 2}},
		"graph": {{"-", smallGraph, 0}, {"-", brokenInput, 1}, {missing, "", 2}, {"- --around=b", smallGraph, 2}},
		"diff": {
			{"../../cmd/lumi/testdata/examples/graph.json ../../cmd/lumi/testdata/examples/graph.json", "", 0}, {"../../cmd/lumi/testdata/examples/graph.json -", smallGraph, 1},
			{"../../cmd/lumi/testdata/examples/graph.json -", brokenInput, 2}, {"../../cmd/lumi/testdata/examples/graph.json " + missing, "", 2},
		},
		"query": {
			{"- true", smallGraph, 0}, {"- false", smallGraph, 1}, {"- true", brokenInput, 2}, {missing, "", 2}, {"- nonsense(", smallGraph, 2},
			{"- --dependents=a", smallGraph, 1}, {"- --dependents=b", smallGraph, 2},
		},
		"convert": {
			{"-", stateInput, 0}, {"--strict -", stateInput, 0}, {"-", "{}", 1}, {"-", "{", 1}, {"--strict -", strings.Replace(stateInput, "{", `{"x": 1,`, 1), 1},
			{missing, "", 2}, {"--environment=a:b -", stateInput, 2},
		},
		"explain": {{"dangling", "", 0}, {"giraffe", "", 2}},
		"provider test": {
			{plugin + " --fixture=../../cmd/lumi/testdata/examples/library.json", "", 0}, {plugin + " --fixture=-", wrongFixture, 1},
			{plugin + " --fixture=-", brokenInput, 2}, {missing + " --fixture=../../cmd/lumi/testdata/examples/library.json", "", 2},
		},
		"provider describe": {{plugin, "", 0}, {missing, "", 2}},
		"yaql": {
			{"$ -", smallGraph, 0}, {"--batch", "nonsense", 0}, {"1+ -", smallGraph, 1}, {"$ -", "[", 2}, {"$ " + missing, "", 2}, {"", "", 2},
		},
		"murano check": {{"../../cmd/lumi/testdata/examples/murano", "", 0}, {"exit_test.go", "", 1}, {missing, "", 2}},
		"murano run": {
			{"--classes=../../cmd/lumi/testdata/examples/murano --batch", "nonsense", 0}, {"--classes=exit_test.go --batch", "", 1}, {"", "", 2},
		},
		"completion": {{"bash", "", 0}, {"tcsh", "", 2}},
		"help":       {{"", "", 0}, {"frobnicate", "", 2}},
		"version":    {{"", "", 0}, {"now", "", 2}},
	}
	manual := must.Get(os.ReadFile("../../docs/lumi.md"))(t)
	for _, c := range leaves(newRoot(&console.Console{})) {
		if usesEnvironment(c) {
			continue // covered by TestEnvironmentExits
		}
		seen, ofFaults := map[string]bool{}, ""
		for _, try := range tries[name(c)] {
			var stderr bytes.Buffer
			args := append(strings.Fields(name(c)), strings.Fields(try.args)...)
			code := runLumi(t.Context(), args, strings.NewReader(try.stdin), io.Discard, &stderr, noEnv)
			if code != try.want {
				t.Errorf("lumi %v = exit code %d, want %d: %s", args, code, try.want, &stderr)
			}
			seen[fmt.Sprint(code)] = true
			if try.stdin == brokenInput || name(c) == "convert" && try.stdin == "{" {
				ofFaults = fmt.Sprint(" ", code)
			}
		}
		for code, meaning := range c.Annotations {
			if !seen[code] || meaning == "" {
				t.Errorf("no test of 'lumi %s' exits with code %s (%q)", name(c), code, meaning)
			}
		}
		if len(seen) != len(c.Annotations) {
			t.Errorf("'lumi %s' exits with undocumented codes", name(c))
		}
		wantExits(t, manual, c, c.Annotations["0"], c.Annotations["1"], strings.TrimSpace(ofFaults))
	}
}

// wantExits checks that docs/lumi.md contains a row with the meanings of a command's exit codes. Commands with the same
// meanings may share a row. Commands that can only succeed have no row.
func wantExits(t *testing.T, manual []byte, c *cobra.Command, cells ...string) {
	t.Helper()
	row := ""
	for _, cell := range cells {
		row += strings.TrimRight(" "+cell, " ") + " |"
	}
	want := regexp.MustCompile("(?m)^\\| (`[a-z ]+`, )*`" + name(c) + "`(, `[a-z ]+`)* \\|" + regexp.QuoteMeta(row) + "$")
	found := want.Match(regexp.MustCompile("`(--[a-z]+)`").ReplaceAll(manual, []byte("$1")))
	if only := strings.Trim(strings.Join(cells[1:], ""), " ") == ""; found == only {
		t.Errorf("docs/lumi.md contains the row for %s: %t, want %t:\n%s", name(c), found, !only, row)
	}
}

// TestEnvironmentExits checks that the scripts cover, and docs/lumi.md lists, every exit code of the commands that use
// an environment. The codes for waiting are common to all commands that run deployments and need only one test.
func TestEnvironmentExits(t *testing.T) {
	manual, err := os.ReadFile("../../docs/lumi.md")
	files, _ := filepath.Glob("../../cmd/lumi/testdata/script/*.txtar")
	var scripts []byte
	for _, file := range files {
		script, failed := os.ReadFile(file)
		scripts, err = append(scripts, script...), errors.Join(err, failed)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range leaves(newRoot(&console.Console{})) {
		if !usesEnvironment(c) {
			continue
		}
		for code, meaning := range c.Annotations {
			command := name(c)
			if code >= "3" && meaning == deployments.DeployExits[code] {
				command = "(destroy|retry)"
			}
			exit := `lumi ` + command + `\b.*; (test \$\? = ` + code + `'|echo exit \$\?'\n(std.*\n)*stdout '\^exit ` + code + `\$')( &\w+&)?\n`
			if code == "0" {
				exit += `|\n(exec )?lumi ` + command + `\b`
			}
			if !regexp.MustCompile(exit).Match(scripts) {
				t.Errorf("no test of '%s' exits with code %s (%q)", c.CommandPath(), code, meaning)
			}
		}
		wantExits(t, manual, c, c.Annotations["0"], c.Annotations["1"], c.Annotations["3"], c.Annotations["4"])
	}
}

// usesEnvironment reports whether a command works on deployments, state, or task graphs.
func usesEnvironment(c *cobra.Command) bool {
	isIn := func(group string) bool { return c.GroupID == group || c.Parent().GroupID == group }
	return isIn("Deployments") || isIn("State") || c.Name() == "model" || isTasks(c)
}

// isTasks reports whether a command works on task graphs.
func isTasks(c *cobra.Command) bool {
	return name(c) == "serve" || strings.HasPrefix(name(c), "tasks ")
}
