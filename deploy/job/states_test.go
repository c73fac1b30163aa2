package job_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/test/kit/golden"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestTransitionTables(t *testing.T) {
	t.Parallel()
	const file, begin, end = "../../docs/engine.md", "<!-- transitions -->\n", "<!-- end of transitions -->"
	before, rest, ok := strings.Cut(string(must.Get(os.ReadFile(file))(t)), begin)
	was, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s does not contain the markers of the tables", file)
	}
	var tables strings.Builder
	for _, kind := range []struct {
		name  string
		table job.Transitions
	}{{"deployment", job.Deployments}, {"task", job.Tasks}, {"step", job.Steps}} {
		fmt.Fprintf(&tables, "\n| %s | next | when |\n|---|---|---|\n", kind.name)
		for i, x := range kind.table {
			from := string(x.From)
			if i > 0 && kind.table[i-1].From == x.From {
				from = ""
			}
			fmt.Fprintf(&tables, "| %s | %s | %s |\n", from, x.To, x.When)
		}
	}
	tables.WriteString("\n")
	if *golden.Update {
		must.Do(t, os.WriteFile(file, []byte(before+begin+tables.String()+end+after), 0o644))
	} else if d := gocmp.Diff(was, tables.String()); d != "" {
		t.Errorf("tables of transitions in %s (-want +got):\n%s", file, d)
	}
}
