package programs_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lumi-idl/lumi/deploy/workspace"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/test/kit/golden"
	"github.com/lumi-idl/lumi/test/kit/must"
	"github.com/lumi-idl/lumi/test/kit/node"
)

// The programs compile in strict mode, with the expected errors in types.ts, and print the contents of output.txt.
func TestPrograms(t *testing.T) {
	t.Parallel()
	programs, _ := compile(t)
	for _, program := range []string{"gallery", "mistakes"} {
		got := node.Run(t, filepath.Join(programs, program), "node", "main.js")
		golden.File(t, filepath.Join(program, "output.txt"), got)
	}
}

func TestGraph(t *testing.T) {
	t.Parallel()
	programs, lumi := compile(t)
	command := filepath.Join(lumi, "dist", "bin", "lumi-program.js")
	for _, program := range []string{"web", "site", "service"} {
		got := node.Run(t, programs, "node", command, filepath.Join(program, "main.js"))
		golden.File(t, filepath.Join(program, "graph.json"), got)
		canonical, err := lumigl.Append(nil, must.Get(lumigl.ParseSnapshot(got))(t))
		if diff := cmp.Diff(got, string(canonical)); diff != "" || err != nil {
			t.Errorf("%s: graph is not canonical, error %v (-got +want):\n%s", program, err, diff)
		}
	}
}

// The program gets the configuration that docs/workspace.md explains from lumi, on standard input.
func TestConfig(t *testing.T) {
	t.Parallel()
	programs, lumi := compile(t)
	root := filepath.Join(programs, "..", "..") // the sources are relative to it
	program := must.Get(filepath.Rel(root, filepath.Join(programs, "workers", "main.js")))(t)
	w := must.Get(workspace.Parse([]byte(`
modules: {workers: {program: `+filepath.ToSlash(program)+`, config: {replicas: 1}}}
config: {region: eu-central-1, workers: {note: a}}
environments:
  prod: {config: {region: us-west-2, workers: {replicas: 2}}}
`), "Lumi.yaml"))(t)
	settings := append(w.Config("prod", "workers"), workspace.Setting{Key: "password", Value: []byte(`"hunter2"`), Secret: true})
	input := must.Get(json.Marshal(struct {
		*workspace.Workspace
		Config []workspace.Setting `json:"config"`
	}{w, settings}))(t)
	command := exec.Command("node", filepath.Join(lumi, "dist", "bin", "lumi-program.js"), "workers", "--environment=prod", "--workspace-stdin")
	command.Dir, command.Stdin, command.Stderr = root, bytes.NewReader(input), os.Stderr
	golden.File(t, filepath.Join("workers", "graph.json"), string(must.Get(command.Output())(t)))
}

// All code in docs/programs.md, except imports, comes from the programs. It may be abbreviated with ….
func TestDocs(t *testing.T) {
	t.Parallel()
	var programs string
	for _, program := range []string{"web", "site", "service", "workers"} {
		programs += joined(string(must.Get(os.ReadFile(filepath.Join(program, "main.ts")))(t)))
	}
	page := must.Get(os.ReadFile("../../../docs/programs.md"))(t)
	found := 0
	for _, block := range regexp.MustCompile(`(?m)(?:^    .*\n|^\n)+`).FindAllString(string(page), -1) {
		if !regexp.MustCompile(`(?m)^    (?:new|const|function|class|aws|lumi\.|environment: {)`).MatchString(block) ||
			strings.Contains(block, "evaluateProgram") {
			continue
		}
		for part := range strings.SplitSeq(joined(block), "…") {
			found++
			if part = strings.TrimSpace(part); !strings.Contains(programs, part) {
				t.Errorf("no program contains this code from docs/programs.md:\n%s", part)
			}
		}
	}
	if found < 10 {
		t.Errorf("docs/programs.md contains %d pieces of code, want at least 10", found)
	}
}

// joined removes imports and line comments from code and joins the remaining lines.
func joined(code string) string {
	code = regexp.MustCompile(`(?m)^ *(?:import|//) .*`).ReplaceAllString(code, "")
	return regexp.MustCompile(`\s+`).ReplaceAllString(code, " ")
}

func compile(t *testing.T) (programs, lumi string) {
	t.Helper()
	return node.Programs(t, must.Get(filepath.Abs("../../.."))(t), "aws")
}
