package plan

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/internal/dag"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// order returns the steps of a deployment: changes, whose After must be set, followed by a deletion for each resource
// in t.Deleted. It adds these waits:
//
//   - A deletion waits for the deletions of dependents. If it precedes changes, so do they.
//   - A replacement that deletes first waits for the deletion. If the replacement is only possible, the deletion waits
//     for the steps that decide whether it is needed.
//   - A creation under the physical name of another resource waits for the deletion of that resource.
//   - A deletion that precedes changes waits for the changes that remove references to its resource.
//
// The steps are not sorted; [Plan.group] sorts them. order also returns a fault for each protected resource to be
// deleted.
func order(before *graph.Graph, module string, changes []*Step, t *graph.Transition) ([]*Step, []Fault) {
	replacing, displacing := map[*graph.Resource]*Step{}, map[*graph.Resource][]*Step{}
	goes := map[*graph.Resource]bool{} // resources to delete, now or in a later cleanup
	if newest := before.Newest(module); newest != nil && t.Graph.Newest(module) != nil {
		for r := range newest.Resources() {
			goes[r] = true
		}
	}
	for _, c := range changes {
		for _, r := range c.displaces {
			displacing[r] = append(displacing[r], c)
		}
		if c.Kind == Replace {
			replacing[c.Old] = c
		} else {
			delete(goes, c.Old)
		}
	}
	var deletions []*Step
	for _, r := range t.Deleted {
		d := removal(r)
		deletions = append(deletions, d)
		if c := replacing[r]; c != nil {
			d.Replaced, d.DeleteFirst, d.Possible = true, c.DeleteFirst, c.Possible
		} else if by := displacing[r]; by != nil {
			d.DeleteFirst, d.Reasons = true, append(d.Reasons, displacedBy(by[0]))
		}
	}
	for _, r := range t.Deleted {
		goes[r] = true
	}
	faults := protects(goes, replacing)
	steps := slices.Concat(changes, deletions)
	deleted, dropped := releases(before.Versions(module), steps, deletions, replacing)
	addWaits(deletions, deleted)
	decided := deleteFirst(deletions, replacing, displacing)
	dropped = slices.DeleteFunc(dropped, func(w wait) bool { return !w.step.DeleteFirst })
	keepWaits(addWaits(steps, dropped))
	addWaits(steps, decided) // last, since these steps may themselves wait for deletions and form cycles
	return steps, faults
}

// displacedBy is the reason to delete a resource before step s.
func displacedBy(s *Step) string {
	return fmt.Sprintf("it is deleted first, since %s takes its name", s.URN.Name())
}

// protects returns a fault for each protected resource to be deleted.
func protects(goes map[*graph.Resource]bool, replacing map[*graph.Resource]*Step) []Fault {
	var faults []Fault
	for r := range goes {
		if d := removal(r); !d.isForbidden() {
			continue
		}
		f := Fault{r.URN, r.Source, `protected: it would be deleted; remove the option "protect" and deploy, or keep the resource`}
		if c := replacing[r]; c != nil {
			f = Fault{r.URN, c.New.Source, `protected: it would be replaced; remove the option "protect" and deploy, or undo the change`}
		}
		faults = append(faults, f)
	}
	slices.SortFunc(faults, func(a, b Fault) int { return cmp.Compare(a.URN, b.URN) })
	return faults
}

// wait makes step wait for on.
type wait struct{ step, on *Step }

// releases returns the steps that deletions wait for: deleted makes them wait for the deletions of dependents, dropped
// for changes that remove a dependency.
func releases(versions []*graph.Version, steps, deletions []*Step, replacing map[*graph.Resource]*Step) (deleted, dropped []wait) {
	deleting := map[urn.URN][]*Step{}
	for _, d := range deletions {
		deleting[d.URN] = append(deleting[d.URN], d)
		// Resources of a failed deployment refer to d.Old by the URN of its replacement.
		if c := replacing[d.Old]; c != nil && c.URN != d.URN {
			deleting[c.URN] = append(deleting[c.URN], d)
		}
	}
	for _, s := range steps {
		if s.Old == nil || s.Kind == Replace && !s.Possible || len(deletions) == 0 {
			continue
		}
		for _, u := range s.Old.Dependencies {
			for _, d := range deleting[u] {
				switch {
				case !depends(versions, s.Old, d.Old):
				case s.removes():
					deleted = append(deleted, wait{d, s})
				case !d.Replaced || !slices.Contains(s.New.Dependencies, replacing[d.Old].URN): // The replacement may have a new URN.
					dropped = append(dropped, wait{d, s})
				}
			}
		}
	}
	return deleted, dropped
}

// depends reports whether r, which refers to the URN of another resource, depends on that resource. It does if a
// version contains both. It is assumed to if only the URN is known, because r is pending or was created or changed by a
// failed deployment.
func depends(versions []*graph.Version, r, on *graph.Resource) bool {
	byURN := true
	for _, v := range versions {
		if v.Holds(r) {
			if v.Holds(on) {
				return true
			}
			byURN = byURN && (v.Partial || v.Resource(on.URN) == nil || r.Deployment == on.Deployment)
		}
	}
	return byURN
}

// deleteFirst sets DeleteFirst on the deletions that early deletions wait for, and makes replacements and displacing
// creations wait for their deletions. It returns waits for the steps that decide whether a possible replacement is needed.
func deleteFirst(deletions []*Step, replacing map[*graph.Resource]*Step, displacing map[*graph.Resource][]*Step) (decided []wait) {
	first := slices.DeleteFunc(slices.Clone(deletions), func(d *Step) bool { return !d.DeleteFirst })
	for len(first) > 0 {
		d := first[0]
		first = first[1:]
		for _, a := range d.After {
			if !a.DeleteFirst {
				a.DeleteFirst = true
				first = append(first, a)
			}
		}
		for _, c := range displacing[d.Old] {
			c.After = append(c.After, d)
		}
		c := replacing[d.Old]
		if c == nil {
			continue
		}
		if d.Possible {
			for _, a := range c.After {
				decided = append(decided, wait{d, a})
			}
		}
		c.DeleteFirst = true
		c.After = append(c.After, d)
	}
	return decided
}

// addWaits adds waits to steps. It returns the waits that it did not add because they would form a cycle. A cycle is
// possible if a change refers to the replacement of a resource that is deleted first.
func addWaits(steps []*Step, waits []wait) (circular []wait) {
	if len(waits) == 0 {
		return nil
	}
	number := numbers(steps)
	component := dag.New(len(steps), func(yield func(from, to int32) bool) {
		for i, s := range steps {
			for _, a := range s.After {
				yield(int32(i), number[a])
			}
		}
		for _, w := range waits {
			yield(number[w.step], number[w.on])
		}
	}).Components()
	for _, w := range waits {
		if component[number[w.step]] == component[number[w.on]] {
			circular = append(circular, w)
		} else {
			w.step.After = append(w.step.After, w.on)
		}
	}
	return circular
}

// keepWaits adds each wait that does not close a cycle. The result does not depend on the order of steps.
func keepWaits(circular []wait) {
	slices.SortFunc(circular, func(a, b wait) int {
		return cmp.Or(a.step.compare(b.step), a.on.compare(b.on))
	})
	for _, w := range circular {
		if !w.on.waitsFor(w.step) {
			w.step.After = append(w.step.After, w.on)
		}
	}
}

// compare orders steps by URN, kind, and old resource.
func (s *Step) compare(other *Step) int {
	key := func(s *Step) string {
		if s.Old == nil {
			return ""
		}
		return s.Old.Key()
	}
	return cmp.Or(cmp.Compare(s.URN, other.URN), cmp.Compare(s.Kind, other.Kind), cmp.Compare(key(s), key(other)))
}

// waitsFor reports whether s is other or waits for it, directly or indirectly.
func (s *Step) waitsFor(other *Step) bool {
	seen := map[*Step]bool{s: true}
	for rest := []*Step{s}; len(rest) > 0; {
		last := rest[len(rest)-1]
		if last == other {
			return true
		}
		rest = rest[:len(rest)-1]
		for _, a := range last.After {
			if !seen[a] {
				seen[a] = true
				rest = append(rest, a)
			}
		}
	}
	return false
}

func numbers(steps []*Step) map[*Step]int32 {
	number := make(map[*Step]int32, len(steps))
	for i, s := range steps {
		number[s] = int32(i)
	}
	return number
}
