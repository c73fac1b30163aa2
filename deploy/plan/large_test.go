package plan

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/lumigl"
)

// Ordering and grouping steps takes linear time for a hub with many dependents, for a chain, and for a chain with
// alternating provisioners. Quadratic time would be minutes.
func TestOrderScales(t *testing.T) {
	lines := func(n int, line func(i int) string) []string {
		all := make([]string, n)
		for i := range all {
			all[i] = line(i)
		}
		all[0], _, _ = strings.Cut(all[0], " ")
		return all
	}
	for _, test := range []struct {
		name         string
		lines        []string
		first, other string // kinds of the first step and of the others
		steps, tasks int
	}{
		{"hub", lines(50_000, func(i int) string { return fmt.Sprintf("aws/%d aws/%d", i+1, min(i, 1)) }), "replace!", "replace", 100_000, 2},
		{"chain", lines(50_000, func(i int) string { return fmt.Sprintf("aws/%d aws/%d", i+1, i) }), "replace", "replace", 100_000, 3},
		{"updates", lines(50_000, func(i int) string { return fmt.Sprintf("aws/%d aws/%d", i+1, i) }), "replace!", "update", 50_001, 2},
		{"alternating", lines(2_000, func(i int) string { return fmt.Sprintf("p%d/%d p%d/%d", i%2, i+1, (i+1)%2, i) }), "replace!", "replace", 4_000, 4_000},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := deploy(t, new(graph.Graph), graph.Update{Version: versionOf(1, test.lines...)}).Graph
			changes := []string{test.first + " " + test.lines[0]}
			for _, line := range test.lines[1:] {
				changes = append(changes, test.other+" "+line)
			}
			p := change(t, before, changes...)
			start := time.Now()
			p.Steps, _ = order(before, "a", p.Steps, p.Transition)
			p.before, p.provisioner = before, provisionerOf
			p.group()
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("ordering and grouping took %v, want at most 20s", took)
			}
			if len(p.Steps) != test.steps || len(p.Tasks) != test.tasks {
				t.Errorf("got %d steps and %d tasks, want %d and %d", len(p.Steps), len(p.Tasks), test.steps, test.tasks)
			}
		})
	}
}

// Calls with different arguments are found by hash. Comparing each with each would take minutes.
func TestReadsScale(t *testing.T) {
	p, start := &planner{}, time.Now()
	for i := range 20_000 {
		r := resource("aws/r", 1)
		r.Inputs = lumigl.ObjectOf(lumigl.Member{Key: "of", Value: lumigl.IntOf(int64(i))})
		if a := p.shared(r); a.of != r || p.shared(r) != a {
			t.Fatalf("call %d does not have an answer of its own", i)
		}
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("finding the answers took %v, want at most 20s", took)
	}
}
