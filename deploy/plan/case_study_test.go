package plan_test

import "testing"

// TestCaseStudy runs the case study in docs/case-study.md. Each expected output is in the block of that name.
func TestCaseStudy(t *testing.T) {
	s := newStudy(t)

	// Deploy a new module.
	s.request("1-a.json")
	s.queue("queue 1")
	s.start("a[1]")
	s.tasks("tasks 1")
	s.advance("a[1]")
	s.tasks("tasks 1, running")
	s.advance("a[1]")
	s.tasks("tasks 1, polling")
	s.page.compare("stack 1", s.aws.template("a"))
	s.finish("a[1]")
	s.tasks("tasks 1, done")
	s.graph("graph-1")
	s.queue("queue 1, done")

	// Deploy a module that uses the first one.
	s.request("2-b.json")
	s.queue("queue 2")
	s.start("b[2]")
	s.finish("b[2]")
	s.tasks("tasks 2")
	s.graph("graph-2")
	s.queue("queue 2, done")

	// Remove a resource.
	s.request("3-a.json")
	s.start("a[3]")
	s.tasks("tasks 3")
	s.cleanups("cleanups 3", "a[3]")
	s.finish("a[3]")
	s.graph("graph-3")
	s.queue("queue 3")
	s.start("Cleanup[a]")
	s.finish("Cleanup[a]")
	s.tasks("tasks 3, cleaned up")
	s.graph("graph-3-clean")
	s.queue("queue 3, cleaned up")

	// Make an incompatible change.
	s.request("4-a.json")
	s.start("a[4]")
	s.finish("a[4]")
	s.tasks("tasks 4")
	s.graph("graph-4")
	s.queue("queue 4")

	// Make two concurrent changes. The second depends on the first.
	s.request("5-a.json")
	s.queue("queue 5")
	s.start("a[5]")
	s.advance("a[5]")
	s.request("6-b.json")
	s.queue("queue 6")
	s.tasks("tasks 6, waiting")
	s.cleanups("cleanups 6", "b[6]")
	s.finish("a[5]")
	s.graph("graph-5")
	s.queue("queue 5, done")
	s.start("b[6]")
	s.finish("b[6]")
	s.graph("graph-6")
	s.queue("queue 6, done")

	// Run the resulting cleanups.
	s.start("Cleanup[a]")
	s.finish("Cleanup[a]")
	s.graph("graph-6-clean-1")
	s.queue("queue 6, cleaned up 1")
	s.start("Cleanup[b]")
	s.finish("Cleanup[b]")
	s.graph("graph-6-clean-2")
	s.queue("queue 6, cleaned up 2")
	s.start("Cleanup[a]")
	s.finish("Cleanup[a]")
	s.graph("graph-6-clean-3")
	s.queue("queue 6, cleaned up 3")
	s.tasks("tasks 6, cleaned up")

	// Deploy four modules in a new environment.
	s.reset()
	for _, file := range []string{"abcd-a.json", "abcd-b.json", "abcd-c.json", "abcd-d.json"} {
		s.request(file)
	}
	s.queue("queue abcd")
	s.ready("ready abcd")
	s.start("a[1]")
	s.start("b[2]")
	s.finish("a[1]")
	s.ready("ready abcd, after a")
	s.start("c[3]")
	s.finish("b[2]")
	s.ready("ready abcd, after b")
	s.start("d[4]")
	s.finish("d[4]")
	s.finish("c[3]")
	s.graph("graph-abcd")

	s.page.close()
}

func TestCaseStudyErrors(t *testing.T) {
	s := newStudy(t)
	s.run("1-a.json", "a[1]")

	// No version provides the verb with the type that b requires.
	const want = `b uses a.foo, but a::1 is incompatible: "foo" is verb {a: number} → number, not ` +
		`verb {a: number, b: number, c: number} → number: request.b: sent by callers, but unknown to the verb`
	if got := s.refused("6-b.json"); got != want {
		t.Errorf("planning 6-b.json: error %s\nwant %s", got, want)
	}

	// An incompatible change removes the database, but b keeps a::1, whose verb may need all resources of a::1.
	s.run("2-b.json", "b[2]")
	s.run("4-a.json", "a[3]")
	if v := s.resources.Newest("a"); v.Len() != 0 {
		t.Errorf("%s has %d resources, want none", v, v.Len())
	}
	if kept := s.resources.Kept("a"); len(kept) != 2 || kept[1].Len() != 1 {
		t.Errorf("Kept(a) = %v, want 2 versions, the older one with 1 resource", kept)
	}
	if calls := s.aws.calls; len(calls) != 1 {
		t.Errorf("calls of the provisioner aws = %q, want only the creation of the database", calls)
	}
}
