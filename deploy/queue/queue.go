// Package queue implements the deployment queue of an environment. It determines which deployments wait for which
// others, and why.
//
// Two deployments are related if they have the same module or if the module of one directly uses the module of the
// other. A deployment waits only for related deployments that precede it in the queue or are already running. For
// example, if C uses A, and D uses A and B:
//
//	A ◀── C        A and B start at once, C after A, D after both.
//	▲
//	└──── D ──▶ B
//
// Only direct uses count: in A ◀── B ◀── C, a deployment of C does not wait for a deployment of A unless a deployment
// of B is queued between them. There are no deadlocks, since a deployment waits for a later one only if that is
// running.
//
// A [Queue] is a list of entries. The caller stores it, adds entries, starts ready entries, and removes finished ones:
//
//	q, replaced, err := q.Add(queue.Entry{ID: 7, Module: "shop", Uses: []string{"network"}}, g)
//	for _, e := range q.Ready(g) { … }      // set Running
//	for _, w := range q.Waits(i, g) { … }   // what entry i waits for, with reasons
//	q = q.Remove("shop[7]")
//
// The package does no I/O. See docs/engine.md for the design.
package queue

import (
	"fmt"
	"slices"

	"github.com/lumi-idl/lumi/deploy/graph"
)

// Entry is a deployment in the queue.
type Entry struct {
	// ID is the number of the deployment, or 0 for a cleanup.
	ID     graph.Deployment
	Module string
	// Uses lists the modules used directly by the deployment's desired state.
	Uses []string
	// Destroys is set if the deployment removes its module.
	Destroys bool
	// Running is set while the deployment runs. If it fails, Running is replaced by Failed. A retry clears Failed;
	// Running is set only when the deployment starts again, since it may have to wait.
	Running, Failed bool
	// Asks is set if the deployment waits for an answer. Failed is then also set.
	Asks bool
	// Interrupted is set if the process that ran the deployment is gone. Running is then also set.
	Interrupted bool
}

// IsCleanup reports whether the entry is a cleanup of unused versions.
func (e Entry) IsCleanup() bool { return e.ID == 0 }

// updates reports whether the entry creates a new version of the module.
func (e Entry) updates(module string) bool { return e.Module == module && !e.IsCleanup() }

// Name returns the entry's name, such as "a[5]" or "Cleanup[a]".
func (e Entry) Name() string {
	if e.IsCleanup() {
		return fmt.Sprintf("Cleanup[%s]", e.Module)
	}
	return fmt.Sprintf("%s[%d]", e.Module, e.ID)
}

// uses reports whether the entry's module directly uses the given module, according to its desired state or to any
// existing version, including versions pending cleanup.
func (e Entry) uses(module string, g *graph.Graph) bool {
	return slices.Contains(e.Uses, module) || slices.Contains(g.Uses(e.Module), module)
}

// Queue lists the unfinished deployments of an environment in order. It is immutable: operations return a new queue.
type Queue []Entry

// Add returns the queue with entry e added.
//
// A deployment replaces a failed deployment of its module, which is returned as replaced. It is placed after the
// module's other deployments to keep updates in order. The removal of a module is always appended, so that it follows
// deployments of the module's users. A cleanup is not added if one for the module is already waiting. It is added if
// one is running, which may miss unused versions.
//
// Add returns a *[graph.RefusedError] if the uses in the graph and the queue together form a cycle.
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

// Remove returns the queue without the first entry with the given name. If a module has two cleanups, the first is the
// running one. Remove returns q if there is no such entry.
func (q Queue) Remove(name string) Queue {
	i := slices.IndexFunc(q, func(e Entry) bool { return e.Name() == name })
	if i < 0 {
		return q
	}
	return slices.Concat(q[:i], q[i+1:])
}

// Wait is a deployment to wait for.
type Wait struct {
	For    Entry
	Reason string // such as "b uses a"
}

// Waits returns the deployments that the i-th entry waits for, in queue order: related deployments that are earlier in
// the queue or running. A later deployment can be running only if the i-th entry was retried or replaced a failed one.
// For a failed deployment, Waits returns the deployments that a retry would wait for. It returns nil for a running
// deployment.
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

// failure describes the state of a failed deployment and the actions available to the user.
func (e Entry) failure() string {
	if e.Asks {
		return "is waiting for an answer: answer or replace it"
	}
	return "failed: retry or replace it"
}

// reason returns the reason that e must wait for other, or "" if it need not.
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
		// A failed user must not block this deployment, which may fix it. A retry of the user plans again.
		return fmt.Sprintf("%s is used by %s", e.Module, other.Module)
	}
	return ""
}

// Ready returns the entries that can start concurrently now: they are neither running nor failed, and do not wait for
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
