package queue_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/queue"
)

var modules = []string{"a", "b", "c", "d", "e"}

// usesDirectly reports whether e's module uses the given module directly.
func usesDirectly(e queue.Entry, module string, g *graph.Graph) bool {
	used := slices.Clone(e.Uses)
	for _, v := range g.Versions(e.Module) {
		for _, edge := range v.Uses {
			used = append(used, edge.To.Module)
		}
	}
	return slices.Contains(used, module)
}

// simulation is an environment in which deployments are queued, run, failed, and retried.
type simulation struct {
	scene
	last graph.Deployment
}

func (s *simulation) add(t *rapid.T, e queue.Entry) {
	before := len(s.queue)
	added, replaced, err := s.queue.Add(e, s.graph)
	if err != nil {
		s.checkCircle(t, e, err)
		return
	}
	if grown := len(added) - before; !e.IsCleanup() && (grown == 0) != (replaced != nil) {
		t.Fatalf("Add(%s) grew the queue by %d and replaced %v, want either", e.Name(), grown, replaced)
	}
	s.queue = added
}

// checkCircle checks that err describes a cycle in which each module uses the next one.
func (s *simulation) checkCircle(t *rapid.T, e queue.Entry, err error) {
	circle, _ := strings.CutPrefix(err.Error(), "dependency cycle between modules: ")
	at := e.Module
	for use := range strings.SplitSeq(circle, ", ") {
		module, next, _ := strings.Cut(use, " uses ")
		if module != at {
			t.Fatalf("%q does not continue the cycle: %v", use, err)
		}
		if !slices.ContainsFunc(append(slices.Clip(s.queue), e, queue.Entry{Module: module}), func(o queue.Entry) bool {
			return o.Module == module && usesDirectly(o, next, s.graph)
		}) {
			t.Fatalf("reported cycle is wrong, since %s does not use %s: %v", module, next, err)
		}
		at = next
	}
	if at != e.Module {
		t.Fatalf("error does not describe a cycle through %s: %v", e.Module, err)
	}
}

// finish ends a running deployment. It reports whether the graph accepted the deployment.
func (s *simulation) finish(t *rapid.T, i int) bool {
	e := s.queue[i]
	var transition *graph.Transition
	if e.IsCleanup() {
		transition = s.graph.Cleanup(e.Module)
	} else {
		var err error
		if transition, err = deployed(s.graph, e); err != nil {
			return false // The deployment uses a missing module.
		}
	}
	s.graph, s.queue = transition.Graph, s.queue.Remove(e.Name())
	for _, module := range transition.Cleanups {
		s.add(t, queue.Entry{Module: module})
	}
	return true
}

// pick returns the index of a random entry that satisfies is. It returns false if there is none.
func (s *simulation) pick(t *rapid.T, is func(i int, e queue.Entry) bool) (int, bool) {
	var places []int
	for i, e := range s.queue {
		if is(i, e) {
			places = append(places, i)
		}
	}
	if places == nil {
		return 0, false
	}
	return rapid.SampledFrom(places).Draw(t, "place"), true
}

func running(_ int, e queue.Entry) bool { return e.Running }
func failed(_ int, e queue.Entry) bool  { return e.Failed }

func (s *simulation) ready(i int, e queue.Entry) bool {
	return !e.Running && !e.Failed && len(s.queue.Waits(i, s.graph)) == 0
}

func (s *simulation) check(t *rapid.T) {
	busy, broken := 0, 0
	for i, e := range s.queue {
		if e.Running {
			busy++
		}
		if e.Failed {
			broken++
		}
		for _, other := range s.queue[:i] {
			related := e.Module == other.Module || usesDirectly(e, other.Module, s.graph) || usesDirectly(other, e.Module, s.graph)
			if related && e.Running && other.Running {
				t.Fatalf("%s and %s run concurrently", other.Name(), e.Name())
			}
			if e.Module == other.Module && !e.IsCleanup() && !other.IsCleanup() && e.ID < other.ID {
				t.Fatalf("%s is queued before %s", other.Name(), e.Name())
			}
			if e.Module == other.Module && e.IsCleanup() && other.IsCleanup() && !other.Running {
				t.Fatalf("%s is queued twice", e.Name())
			}
		}
	}
	ready := s.queue.Ready(s.graph)
	if len(s.queue) > 0 && busy == 0 && broken == 0 && len(ready) == 0 {
		t.Fatalf("Ready() = none for a queue without running or failed entries: %s", &s.scene)
	}
	for i, e := range s.queue {
		if s.ready(i, e) != slices.ContainsFunc(ready, func(o queue.Entry) bool { return o.Name() == e.Name() && !e.Running }) {
			t.Fatalf("Ready() = %v, which is wrong for %s", ready, e.Name())
		}
	}
}

func (s *simulation) step(t *rapid.T) {
	switch rapid.SampledFrom([]string{"add", "add", "clean up", "start", "start", "finish", "fail", "retry"}).Draw(t, "event") {
	case "add":
		s.last++
		s.add(t, queue.Entry{
			ID: s.last, Module: rapid.SampledFrom(modules).Draw(t, "module"),
			Uses: rapid.SliceOfN(rapid.SampledFrom(modules), 0, 2).Draw(t, "uses"),
		})
	case "clean up":
		s.add(t, queue.Entry{Module: rapid.SampledFrom(modules).Draw(t, "module")})
	case "start":
		if i, found := s.pick(t, s.ready); found {
			s.set(i, true, false)
		}
	case "finish":
		if i, found := s.pick(t, running); found && !s.finish(t, i) {
			s.set(i, false, true)
		}
	case "fail":
		if i, found := s.pick(t, running); found && !s.queue[i].IsCleanup() {
			s.set(i, false, true)
		}
	case "retry":
		if i, found := s.pick(t, failed); found {
			s.set(i, false, false)
		}
	}
}

// TestQueueRandom queues, starts, finishes, fails, and retries random deployments. Related deployments never run
// concurrently. Unless a failure blocks the queue, an entry can always start. Once all failed deployments are retried,
// the queue empties in any order of starts and ends.
func TestQueueRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &simulation{scene: scene{graph: &graph.Graph{}}}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			s.step(t)
			s.check(t)
		}
		for i := range s.queue {
			if s.queue[i].Failed {
				s.set(i, false, false)
			}
		}
		// Deployments queue cleanups, which queue further cleanups, so more entries may finish than are queued now.
		for left := (len(s.queue) + 1) * (len(modules) + 1); len(s.queue) > 0; left-- {
			if left == 0 {
				t.Fatalf("queue does not become empty: %s", &s.scene)
			}
			for i, e := range s.queue {
				if s.ready(i, e) && rapid.Bool().Draw(t, "start") {
					s.set(i, true, false)
				}
			}
			i, found := s.pick(t, running)
			if !found {
				if i, found = s.pick(t, s.ready); !found {
					t.Fatalf("no entry can start: %s", &s.scene)
				}
				s.set(i, true, false)
			}
			if s.check(t); !s.finish(t, i) {
				s.queue = s.queue.Remove(s.queue[i].Name())
			}
		}
	})
}

// Operations do not panic for any queue, even one that Add cannot create.
func TestMalformedQueues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SampledFrom([]string{"", "a", "b", "a[1]", "]", "\x1b[2J", "Cleanup[a]"})
		entries := rapid.Custom(func(t *rapid.T) queue.Entry {
			return queue.Entry{
				ID: graph.Deployment(rapid.Int64().Draw(t, "id")), Module: names.Draw(t, "module"), Uses: rapid.SliceOf(names).Draw(t, "uses"),
				Running: rapid.Bool().Draw(t, "running"), Failed: rapid.Bool().Draw(t, "failed"),
			}
		})
		q, g := queue.Queue(rapid.SliceOfN(entries, 0, 8).Draw(t, "queue")), &graph.Graph{}
		e := entries.Draw(t, "entry")
		if added, _, err := q.Add(e, g); err != nil && err.Error() == "" {
			t.Errorf("Add(%v) = error with an empty message", e)
		} else if err == nil && len(added.Remove(e.Name())) >= len(added) && len(added) > len(q) {
			t.Errorf("Remove(%q) did not remove the added entry", e.Name())
		}
		for i := range q {
			q.Waits(i, g)
		}
		if len(q.Ready(g)) > len(q) {
			t.Errorf("Ready() returned %d entries of a queue of %d", len(q.Ready(g)), len(q))
		}
	})
}
