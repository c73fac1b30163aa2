// Package queue is the deployment graph of an environment: which deployments wait, for which others, and why.
//
// Two deployments are related if they are of the same module, or if one's module directly uses the other's. A deployment
// waits for related ones that were queued before it or run already, and for no others. With C using A, and D using A and B:
//
//	A ◀── C        A and B start at once, C after A, D after both.
//	▲
//	└──── D ──▶ B
//
// Only direct uses count: in A ◀── B ◀── C, a deployment of C does not wait for one of A, unless one of B is queued
// between them. Earlier deployments never wait for later ones, except for ones that run, so there are no deadlocks.
//
// A [Queue] is a list of entries. Whoever stores it adds an entry, starts those that are ready, and removes what is done:
//
//	q, replaced, err := q.Add(queue.Entry{ID: 7, Module: "shop", Uses: []string{"network"}}, g)
//	for _, e := range q.Ready(g) { … }      // set Running
//	for _, w := range q.Waits(i, g) { … }   // what the others wait for, and why
//	q = q.Remove("shop[7]")
//
// The package is pure. It follows docs/engine.md, and the design note on infrastructure provisioning.
package queue

import (
	"fmt"
	"slices"

	"github.com/lumi-idl/lumi/deploy/graph"
)

// Entry is a deployment in the queue.
type Entry struct {
	// ID is the number of the deployment, and 0 for a cleanup.
	ID     graph.Deployment
	Module string
	// Uses has the modules that the deployment's desired state uses directly.
	Uses []string
	// Destroys is set if the deployment removes its module.
	Destroys bool
	// Running is set once the deployment has started and until it fails, and Failed once it has. Both are false again once
	// it is retried and until it has started, since it may have to wait.
	Running, Failed bool
	// Asks is set, like Failed, if the deployment waits for an answer.
	Asks bool
	// Interrupted is set, like Running, if the process that ran the deployment is gone.
	Interrupted bool
}

// IsCleanup reports whether the entry removes versions of its module that nothing needs any more.
func (e Entry) IsCleanup() bool { return e.ID == 0 }

// updates reports whether the entry makes a new version of a module.
func (e Entry) updates(module string) bool { return e.Module == module && !e.IsCleanup() }

// Name returns the entry's name, such as "a[5]" or "Cleanup[a]".
func (e Entry) Name() string {
	if e.IsCleanup() {
		return fmt.Sprintf("Cleanup[%s]", e.Module)
	}
	return fmt.Sprintf("%s[%d]", e.Module, e.ID)
}

// uses reports whether the entry's module directly uses another one, in desired state or in a version that exists: the
// versions that a cleanup removes still do.
func (e Entry) uses(module string, g *graph.Graph) bool {
	return slices.Contains(e.Uses, module) || slices.Contains(g.Uses(e.Module), module)
}

// Queue has the deployments of an environment that are not done, in their order. It does not change: operations return
// another one.
type Queue []Entry

// Add returns the queue with a deployment at its end. If one of its module has failed, the deployment takes that one's
// place, and replaced is the failed one. It comes after others of its module, so that a module is updated in the order in
// which updates were asked for. The removal of a module takes no place, since it comes after deployments of modules that use it. A cleanup is added only if none of its module waits: one that runs may have missed
// versions.
//
// The error is a *[graph.RefusedError] if modules would use each other in a circle, over the graph and the queue together.
func (q Queue) Add(e Entry, g *graph.Graph) (added Queue, replaced *Entry, err error) {
	if e.IsCleanup() {
		if slices.ContainsFunc(q, func(o Entry) bool { return o.IsCleanup() && o.Module == e.Module && !o.Running }) {
			return q, nil, nil
		}
		return append(slices.Clip(q), e), nil, nil
	}
	added = append(slices.Clip(q), e)
	if failed := slices.IndexFunc(q, func(o Entry) bool { return o.Failed && o.updates(e.Module) }); failed >= 0 {
		replaced = new(q[failed])
		if e.Destroys {
			return slices.Concat(q[:failed], q[failed+1:], Queue{e}), replaced, nil
		}
		last := failed
		for i, o := range q {
			if o.updates(e.Module) {
				last = i
			}
		}
		added = slices.Concat(q[:failed], q[failed+1:last+1], Queue{e}, q[last+1:])
	}
	uses := map[string][]string{}
	for _, e := range added {
		uses[e.Module] = append(uses[e.Module], e.Uses...)
	}
	if circle := g.Circle(e.Module, uses); circle != "" {
		return nil, nil, &graph.RefusedError{Problems: []string{circle}}
	}
	return added, replaced, nil
}

// Remove returns the queue without the first deployment that has a name: of two cleanups of a module, that is the one that
// runs.
func (q Queue) Remove(name string) Queue {
	i := slices.IndexFunc(q, func(e Entry) bool { return e.Name() == name })
	if i < 0 {
		return q
	}
	return slices.Concat(q[:i], q[i+1:])
}

// Wait is why a deployment has to wait for another one.
type Wait struct {
	For    Entry
	Reason string // such as "b uses a"
}

// Waits returns what the i-th deployment waits for, in the order of the queue: related deployments before it, and those
// after it that run, which only a retried deployment or one in the place of a failed one has. For a failed deployment, that
// is what a retry would wait for.
func (q Queue) Waits(i int, g *graph.Graph) []Wait {
	if q[i].Running {
		return nil
	}
	var waits []Wait
	for j, other := range q {
		if j == i || j > i && !other.Running {
			continue
		}
		if reason := q[i].reason(other, g); reason != "" {
			waits = append(waits, Wait{For: other, Reason: reason})
		}
	}
	return waits
}

// failure says what became of a deployment that has failed, and what to do.
func (e Entry) failure() string {
	if e.Asks {
		return "is waiting for an answer: answer or replace it"
	}
	return "failed: retry or replace it"
}

// reason returns why a deployment cannot run before another one is done, or "" if it can.
func (e Entry) reason(other Entry, g *graph.Graph) string {
	switch {
	case e.Module == other.Module && other.Failed:
		return fmt.Sprintf("%s %s", other.Name(), other.failure())
	case e.Module == other.Module && other.Interrupted:
		return fmt.Sprintf("%s was interrupted and is resumed first", other.Name())
	case e.Module == other.Module && other.IsCleanup():
		return fmt.Sprintf("%s removes versions of %s", other.Name(), e.Module)
	case e.Module == other.Module:
		return fmt.Sprintf("%s is already being deployed by %s", e.Module, other.Name())
	case e.uses(other.Module, g) && other.Failed:
		return fmt.Sprintf("%s uses %s, whose deployment %s %s", e.Module, other.Module, other.Name(), other.failure())
	case e.uses(other.Module, g):
		return fmt.Sprintf("%s uses %s", e.Module, other.Module)
	case other.uses(e.Module, g) && !other.Failed:
		// A failed user must not block this: what it uses may be what has to be fixed. A retry plans again.
		return fmt.Sprintf("%s is used by %s", e.Module, other.Module)
	}
	return ""
}

// Ready returns the deployments that can start, all of them at once: those that neither run, nor have failed, nor wait for
// others.
func (q Queue) Ready(g *graph.Graph) []Entry {
	var ready []Entry
	for i, e := range q {
		if !e.Running && !e.Failed && len(q.Waits(i, g)) == 0 {
			ready = append(ready, e)
		}
	}
	return ready
}
