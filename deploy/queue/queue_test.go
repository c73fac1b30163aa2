package queue_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/queue"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// deployed returns the transition to a new version of e's module, which provides a value. The version uses the value of
// each module in e.Uses.
func deployed(g *graph.Graph, e queue.Entry) (*graph.Transition, error) {
	anything := graph.Type{Form: lumigl.TextOf("any")}
	v := graph.NewVersion(graph.VersionID{Module: e.Module, Deployment: e.ID}, nil)
	v.Provides = []graph.Provided{{Name: "value", Type: anything, Value: lumigl.TextOf("x"), Result: lumigl.TextOf("x")}}
	for _, used := range slices.Compact(slices.Sorted(slices.Values(e.Uses))) {
		v.Uses = append(v.Uses, graph.Edge{Constraint: graph.Constraint{Module: used, Name: "value", Type: anything}})
	}
	return g.Deploy(graph.Update{Version: v})
}

// entry parses an entry such as "a[1]", "b[2] uses a c", "a[3] destroys", or "Cleanup[a]".
func entry(t *testing.T, text string) queue.Entry {
	name, uses, _ := strings.Cut(text, " uses ")
	name, destroys := strings.CutSuffix(name, " destroys")
	e := queue.Entry{Uses: strings.Fields(uses), Destroys: destroys}
	if module, found := strings.CutPrefix(name, "Cleanup["); found {
		e.Module = strings.TrimSuffix(module, "]")
	} else if _, err := fmt.Sscanf(strings.NewReplacer("[", " ", "]", "").Replace(name), "%s %d", &e.Module, &e.ID); err != nil {
		t.Fatalf("malformed entry %q: %v", text, err)
	}
	return e
}

// scene is a queue and its graph.
type scene struct {
	graph    *graph.Graph
	queue    queue.Queue
	replaced []string
}

// play runs a script. A command such as "a[1]" adds an entry. "a[1] runs", "a[1] fails", "a[1] is interrupted", "a[1]
// is retried", and "a[1] is done" change it. Finished deployments become versions in the graph.
func play(t *testing.T, script string) (*scene, error) {
	s := &scene{graph: &graph.Graph{}}
	for line := range strings.SplitSeq(script, ";") {
		line = strings.TrimSpace(line)
		name, event, _ := strings.Cut(line, " ")
		i := slices.IndexFunc(s.queue, func(e queue.Entry) bool { return e.Name() == name })
		switch event {
		case "runs":
			if !slices.ContainsFunc(s.queue.Ready(s.graph), func(e queue.Entry) bool { return e.Name() == name }) {
				t.Fatalf("%s is not ready in: %s", name, s)
			}
			s.set(i, true, false)
		case "fails":
			s.set(i, false, true)
		case "asks":
			s.set(i, false, true)
			s.queue[i].Asks = true
		case "is interrupted":
			s.queue[i].Interrupted = true
		case "is retried":
			s.set(i, false, false)
		case "is done":
			if e := s.queue[i]; e.IsCleanup() {
				s.graph = s.graph.Cleanup(e.Module).Graph
			} else if transition, err := deployed(s.graph, e); err != nil {
				t.Fatal(err)
			} else {
				s.graph = transition.Graph
			}
			s.queue = s.queue.Remove(name)
		default:
			added, replaced, err := s.queue.Add(entry(t, line), s.graph)
			if err != nil {
				return nil, err
			}
			if s.queue = added; replaced != nil {
				s.replaced = append(s.replaced, replaced.Name())
			}
		}
	}
	return s, nil
}

func (s *scene) set(i int, running, failed bool) {
	s.queue = slices.Clone(s.queue)
	s.queue[i].Running, s.queue[i].Failed = running, failed
}

// String formats the queue, including the waits of each entry.
func (s *scene) String() string {
	var entries []string
	for i, e := range s.queue {
		text := e.Name()
		if e.Running {
			text += " runs"
		}
		if e.Failed {
			text += " failed"
		}
		var waits []string
		for _, wait := range s.queue.Waits(i, s.graph) {
			waits = append(waits, wait.For.Name())
		}
		if waits != nil {
			text += " waits for " + strings.Join(waits, " and ")
		}
		entries = append(entries, text)
	}
	return strings.Join(entries, "; ")
}

func TestWaits(t *testing.T) {
	for _, test := range []struct{ name, script, want string }{
		{"unrelated deployments start at once", "a[1]; b[2]", "a[1]; b[2]"},
		{
			"the design's example: C uses A, D uses A and B",
			"a[1]; b[2]; c[3] uses a; d[4] uses a b",
			"a[1]; b[2]; c[3] waits for a[1]; d[4] waits for a[1] and b[2]",
		},
		{
			"C and B run in parallel, then D",
			"a[1]; b[2]; c[3] uses a; d[4] uses a b; a[1] runs; a[1] is done; b[2] runs; c[3] runs",
			"b[2] runs; c[3] runs; d[4] waits for b[2]",
		},
		{"one update of a module at a time", "a[1]; a[2]; a[3]", "a[1]; a[2] waits for a[1]; a[3] waits for a[1] and a[2]"},
		{"a dependency that runs", "a[1]; a[1] runs; b[2] uses a", "a[1] runs; b[2] waits for a[1]"},
		{"a dependent that was queued before", "b[1] uses a; a[2]", "b[1]; a[2] waits for b[1]"},
		{"a deployment never waits for later ones", "a[1]; b[2] uses a; c[3] uses b", "a[1]; b[2] waits for a[1]; c[3] waits for b[2]"},
		{
			"in A ← B ← C, C does not wait for A",
			"a[1]; a[1] is done; b[2] uses a; b[2] is done; c[3] uses b; c[3] is done; a[4]; c[5] uses b",
			"a[4]; c[5]",
		},
		{
			"unless B is queued",
			"a[1]; a[1] is done; b[2] uses a; b[2] is done; c[3] uses b; c[3] is done; a[4]; b[5] uses a; c[6] uses b",
			"a[4]; b[5] waits for a[4]; c[6] waits for b[5]",
		},
		{
			"a module that the deployed version uses is a dependency, though the new one does not use it",
			"a[1]; a[1] is done; b[2] uses a; b[2] is done; a[3]; b[4]",
			"a[3]; b[4] waits for a[3]",
		},
		{
			"so is one that only an older version uses, until that is removed",
			"a[1]; a[1] is done; b[2] uses a; b[2] is done; b[3]; b[3] is done; a[4]; b[5]",
			"a[4]; b[5] waits for a[4]",
		},
		{
			"and not afterward",
			"a[1]; a[1] is done; b[2] uses a; b[2] is done; b[3]; b[3] is done; Cleanup[b]; Cleanup[b] is done; a[4]; b[5]",
			"a[4]; b[5]",
		},
		{
			"a dependent in the graph alone",
			"a[1]; a[1] is done; b[2] uses a; b[2] is done; b[3]; a[4]",
			"b[3]; a[4] waits for b[3]",
		},

		{"a[5] goes first", "a[5]; b[6] uses a", "a[5]; b[6] waits for a[5]"},
		{
			"a cleanup comes after a deployment that may need the old version",
			"a[5]; b[6] uses a; a[5] is done; Cleanup[a]",
			"b[6]; Cleanup[a] waits for b[6]",
		},
		{"a cleanup of a module that nothing queued needs", "b[6]; Cleanup[a]", "b[6]; Cleanup[a]"},
		{"a cleanup waits for its module", "a[1]; Cleanup[a]", "a[1]; Cleanup[a] waits for a[1]"},
		{"later entries wait for a cleanup", "Cleanup[a]; a[1]; b[2] uses a", "Cleanup[a]; a[1] waits for Cleanup[a]; b[2] waits for Cleanup[a] and a[1]"},
		{
			"a cleanup works on versions that use others",
			"a[1]; a[1] is done; b[2] uses a; b[2] is done; b[3]; b[3] is done; a[4]; Cleanup[b]",
			"a[4]; Cleanup[b] waits for a[4]",
		},
		{"one cleanup of a module waits", "Cleanup[a]; Cleanup[b]; Cleanup[a]", "Cleanup[a]; Cleanup[b]"},
		{"a cleanup that runs does not count", "Cleanup[a]; Cleanup[a] runs; Cleanup[a]; Cleanup[a]", "Cleanup[a] runs; Cleanup[a] waits for Cleanup[a]"},
		{"of two cleanups, the running one ends first", "Cleanup[a]; Cleanup[a] runs; Cleanup[a]; Cleanup[a] is done", "Cleanup[a]"},

		{"dependents of a failed deployment wait", "a[1]; a[1] fails; b[2] uses a", "a[1] failed; b[2] waits for a[1]"},
		{"modules used by a failed deployment do not wait", "b[1] uses a; b[1] fails; a[2]", "b[1] failed; a[2]"},
		{"nor does a cleanup of it", "b[1] uses a; b[1] fails; Cleanup[a]; a[2]", "b[1] failed; Cleanup[a]; a[2] waits for Cleanup[a]"},
		{"its own module waits", "a[1]; a[2]; a[1] runs; a[1] fails", "a[1] failed; a[2] waits for a[1]"},
		{"a retried deployment waits for related ones that run", "b[1] uses a; b[1] fails; a[2]; a[2] runs; b[1] is retried", "b[1] waits for a[2]; a[2] runs"},
		{"others wait for it as before", "b[1] uses a; b[1] fails; a[2]; b[1] is retried", "b[1]; a[2] waits for b[1]"},
		{"a failed deployment shows what a retry waits for", "b[1] uses a; b[1] fails; a[2]; a[2] runs", "b[1] failed waits for a[2]; a[2] runs"},

		{
			"a new deployment replaces a failed one in its place",
			"a[1]; a[1] fails; b[2] uses a; a[3]",
			"a[3]; b[2] waits for a[3]; replaced a[1]",
		},
		{
			"the removal of a module replaces a failed deployment, and takes no place",
			"a[1]; a[1] fails; b[2] uses a; a[3] destroys",
			"b[2]; a[3] waits for b[2]; replaced a[1]",
		},
		{
			"waits are recomputed",
			"c[1]; a[2]; a[2] fails; b[3]; a[4] uses b c",
			"c[1]; a[4] waits for c[1]; b[3] waits for a[4]; replaced a[2]",
		},
		{
			"the new deployment comes after running related ones",
			"b[1] uses a; b[1] fails; a[2]; a[2] runs; c[3]; c[3] runs; b[4] uses a",
			"b[4] waits for a[2]; a[2] runs; c[3] runs; replaced b[1]",
		},
		{
			"the new deployment comes after older ones of its module",
			"a[1]; b[2]; a[3]; a[1] runs; a[1] fails; Cleanup[a]; a[4]",
			"b[2]; a[3]; a[4] waits for a[3]; Cleanup[a] waits for a[3] and a[4]; replaced a[1]",
		},
		{"a cleanup replaces nothing", "a[1]; a[1] fails; Cleanup[a]", "a[1] failed; Cleanup[a] waits for a[1]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := must.Get(play(t, test.script))(t)
			got := s.String()
			for _, name := range s.replaced {
				got += "; replaced " + name
			}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Errorf("queue after the script (-want +got):\n%s", d)
			}
		})
	}
}

// TestWaitsReasons checks why the last entry of each queue waits.
func TestWaitsReasons(t *testing.T) {
	for _, test := range []struct{ script, want string }{
		{"a[1]; b[2] uses a", "b uses a"},
		{"b[1] uses a; a[2]", "a is used by b"},
		{"b[6] uses a; Cleanup[a]", "a is used by b"},
		{"a[5]; a[6]", "a is already being deployed by a[5]"},
		{"a[5]; Cleanup[a]", "a is already being deployed by a[5]"},
		{"a[5]; a[5] runs; a[5] is interrupted; a[6]", "a[5] was interrupted and is resumed first"},
		{"Cleanup[a]; a[5]", "Cleanup[a] removes versions of a"},
		{"a[3]; a[3] fails; b[4] uses a", "b uses a, whose deployment a[3] failed: retry or replace it"},
		{"a[3]; a[4]; a[3] fails", "a[3] failed: retry or replace it"},
		{"a[3]; a[3] asks; b[4] uses a", "b uses a, whose deployment a[3] is waiting for an answer: answer or replace it"},
		{"a[3]; a[4]; a[3] asks", "a[3] is waiting for an answer: answer or replace it"},
		{"a[1]; b[2]; e[3]; c[4] uses b a", "c uses a; c uses b"},
	} {
		s := must.Get(play(t, test.script))(t)
		var reasons []string
		for _, wait := range s.queue.Waits(len(s.queue)-1, s.graph) {
			reasons = append(reasons, wait.Reason)
		}
		if got := strings.Join(reasons, "; "); got != test.want {
			t.Errorf("%s:\nreasons %s\nwant    %s", test.script, got, test.want)
		}
	}
}

func TestReady(t *testing.T) {
	for _, test := range []struct{ script, want string }{
		{"a[1]; b[2]; c[3] uses a; Cleanup[d]", "a[1] b[2] Cleanup[d]"},
		{"a[1]; a[1] runs; b[2]; c[3] uses a", "b[2]"},
		{"a[1]; a[1] fails; b[2]; c[3] uses a", "b[2]"},
		{"a[1]; a[1] runs", ""},
	} {
		s := must.Get(play(t, test.script))(t)
		var names []string
		for _, e := range s.queue.Ready(s.graph) {
			names = append(names, e.Name())
		}
		if got := strings.Join(names, " "); got != test.want {
			t.Errorf("%s:\nReady() = %s\nwant      %s", test.script, got, test.want)
		}
	}
}

func TestAddCycles(t *testing.T) {
	const prefix = "dependency cycle between modules: "
	for _, test := range []struct{ name, script, want string }{
		{"itself", "a[1] uses a", prefix + "a uses a"},
		{"queue", "a[1] uses b; b[2] uses a", prefix + "b uses a, a uses b"},
		{"starts with the added module", "b[1] uses c; c[2] uses a; a[3] uses b", prefix + "a uses b, b uses c, c uses a"},
		{"graph", "a[1]; a[1] is done; b[2] uses a; b[2] is done; a[3] uses b", prefix + "a uses b, b uses a"},
		{
			"graph and queue", "a[1]; a[1] is done; b[2] uses a; b[2] is done; c[3] uses b; a[4] uses c",
			prefix + "a uses c, c uses b, b uses a",
		},
		{
			"an older version in the graph", "a[1]; a[1] is done; b[2] uses a; b[2] is done; b[3]; b[3] is done; a[4] uses b",
			prefix + "a uses b, b uses a",
		},
		{"shortest", "b[1] uses c; c[2] uses d; d[3] uses a; e[4] uses a; a[5] uses b e", prefix + "a uses e, e uses a"},
		{"a failed deployment counts", "b[1] uses a; b[1] fails; a[2] uses b", prefix + "a uses b, b uses a"},
		{"a replaced deployment does not count", "b[1] uses a; b[1] fails; b[2]; a[3] uses b", ""},
		{"an older version that is removed", "a[1]; a[1] is done; b[2] uses a; b[2] is done; b[3]; b[3] is done; Cleanup[b]; Cleanup[b] is done; a[4] uses b", ""},
		{"a diamond", "a[1]; b[2] uses a; c[3] uses a; d[4] uses b c; d[5] uses c b a", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := play(t, test.script)
			got := ""
			if err != nil {
				got = err.Error()
			}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Errorf("error of Add (-want +got):\n%s", d)
			}
		})
	}
}

func TestQueueImmutable(t *testing.T) {
	s := must.Get(play(t, "a[1]; b[2]; a[1] fails; c[3]"))(t)
	s.queue = slices.Grow(s.queue, 4) // With spare capacity, an append could overwrite shared entries.
	before := s.String()
	for _, text := range []string{"d[4]", "e[5]", "Cleanup[a]", "Cleanup[b]", "a[6]"} {
		one, _, err := s.queue.Add(entry(t, text), s.graph)
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range []string{"z[9]", "Cleanup[z]"} {
			if _, _, err := s.queue.Add(entry(t, other), s.graph); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.ContainsFunc(one, func(e queue.Entry) bool { return e.Name() == text }) {
			t.Errorf("entry %s was overwritten by a later Add", text)
		}
		s.queue.Remove("b[2]")
	}
	if got := s.String(); got != before {
		t.Errorf("queue changed to %s, want %s", got, before)
	}
	if got := s.queue.Remove("none[1]"); len(got) != len(s.queue) {
		t.Errorf(`Remove("none[1]") = %v, want an unchanged queue`, got)
	}
}
