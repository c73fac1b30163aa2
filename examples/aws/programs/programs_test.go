package programs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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

// All code in docs/programs.md, except imports, comes from the programs. It may be abbreviated with ….
func TestDocs(t *testing.T) {
	t.Parallel()
	var programs string
	for _, program := range []string{"web", "site", "service"} {
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
