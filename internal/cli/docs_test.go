package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/test/kit/must"
)

// TestPages runs the examples in docs. An example is an indented block that starts with a dollar sign. It contains a
// command, which is run in a copy of testdata/examples, and its output on standard output and standard error. All other
// indented blocks contain only commands, so no output is left unchecked. The tests of package diff cover docs/diff.md,
// and the tests of package query cover the table examples in docs/query.md.
func TestPages(t *testing.T) {
	t.Setenv("PATH", os.Getenv("PATH")+string(os.PathListSeparator)+filepath.Dir(library(t)))
	pages := map[string]int{"conformance.md": 3, "lumi.md": 4, "query.md": 1, "graph.md": 1, "convert.md": 1, "yaql.md": 5, "muranopl.md": 4}
	for page, least := range pages {
		text := must.Get(os.ReadFile(filepath.Join("../../docs", page)))(t)
		run := 0
		for _, block := range indentedBlocks(string(text)) {
			first, want, _ := strings.Cut(block, "\n")
			if line, ok := strings.CutPrefix(first, "$ lumi "); ok {
				run++
				t.Run(page+"/"+line, func(t *testing.T) { tryExample(t, line, want) })
				continue
			}
			for line := range strings.Lines(block) {
				if !strings.HasPrefix(line, "lumi ") && !strings.Contains(line, "| lumi ") {
					t.Errorf("docs/%s: line is neither a command nor its output: %s", page, line)
				}
			}
		}
		if run < least {
			t.Errorf("docs/%s has %d examples with output, want at least %d", page, run, least)
		}
	}
}

// quotedWord matches an argument, which may contain single-quoted parts.
var quotedWord = regexp.MustCompile(`('[^']*'|[^\s'])+`)

func tryExample(t *testing.T, line, want string) {
	files := must.Get(filepath.Abs("../../cmd/lumi/testdata/examples"))(t)
	t.Chdir(t.TempDir())
	must.Do(t, os.CopyFS(".", os.DirFS(files)))
	var out bytes.Buffer
	args := quotedWord.FindAllString(line, -1)
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "'", "")
	}
	if runLumi(t.Context(), args, strings.NewReader(""), &out, &out, noEnv); out.String() != want {
		t.Errorf("lumi %s printed\n%s\nwant, as on the page,\n%s", line, &out, want)
	}
}

// indentedBlocks returns the blocks of a page that are indented by four spaces, without the indentation. Blocks may
// contain empty lines. Fenced code is skipped.
func indentedBlocks(page string) []string {
	var blocks []string
	var block strings.Builder
	empty, fenced := 0, false
	end := func() {
		if block.Len() > 0 {
			blocks = append(blocks, block.String())
		}
		block.Reset()
		empty = 0
	}
	for line := range strings.Lines(page) {
		code, indented := strings.CutPrefix(line, "    ")
		switch {
		case strings.HasPrefix(line, "```"):
			fenced = !fenced
		case fenced:
		case indented:
			if block.Len() > 0 {
				block.WriteString(strings.Repeat("\n", empty))
			}
			empty = 0
			block.WriteString(code)
		case line == "\n":
			empty++
		default:
			end()
		}
	}
	end()
	return blocks
}
