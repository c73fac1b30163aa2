package plan

import (
	"cmp"
	"slices"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/internal/dag"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// order returns the steps of a deployment: changes, which know what they wait for, then a deletion for each resource in
// t.Deleted. It adds what deletions wait for, and what waits for them:
//
//   - A deletion waits for those of the resources that depend on what it deletes. If it comes before changes, so do they.
//   - A replacement that deletes first waits for its deletion. If it may turn out to be less, the deletion waits for what
//     decides that.
//   - A deletion that comes before changes waits for those of the resources that no longer refer to what it deletes.
//
// Steps are not sorted yet: [Plan.group] does that. The faults are about resources that are protected.
func order(before *graph.Graph, module string, changes []*Step, t *graph.Transition) ([]*Step, []Fault) {
	replacing := map[*graph.Resource]*Step{}
	goes := map[*graph.Resource]bool{} // now, or in a cleanup while an older version needs it
	if newest := before.Newest(module); newest != nil && t.Graph.Newest(module) != nil {
		for r := range newest.Resources() {
			goes[r] = true
		}
	}
	for _, c := range changes {
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
		}
	}
	for _, r := range t.Deleted {
		goes[r] = true
	}
	faults := protects(goes, replacing)
	steps := slices.Concat(changes, deletions)
	deleted, dropped := releases(before.Versions(module), steps, deletions, replacing)
	addWaits(deletions, deleted)
	decided := deleteFirst(deletions, replacing)
	dropped = slices.DeleteFunc(dropped, func(w wait) bool { return !w.step.DeleteFirst })
	keepWaits(addWaits(steps, dropped))
	addWaits(steps, decided) // Only now, since what decides a replacement may itself wait for deletions, and close circles.
	return steps, faults
}

// protects returns faults about those of the resources that are protected and would be deleted.
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

// wait says that a step should wait for another one.
type wait struct{ step, on *Step }

// releases has each deletion wait for what releases the resource: the deletions of resources that depend on it, and the
// changes of those that no longer do.
func releases(versions []*graph.Version, steps, deletions []*Step, replacing map[*graph.Resource]*Step) (deleted, dropped []wait) {
	deleting := map[urn.URN][]*Step{}
	for _, d := range deletions {
		deleting[d.URN] = append(deleting[d.URN], d)
		// What a failed deployment made refers to it by the URN that it would have had.
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
				case !d.Replaced || !slices.Contains(s.New.Dependencies, replacing[d.Old].URN): // It may have a new URN.
					dropped = append(dropped, wait{d, s})
				}
			}
		}
	}
	return deleted, dropped
}

// depends reports whether a resource depends on another one whose URN it refers to: a version holds both, or the first is
// pending or was made or changed by a failed deployment, so that the URN has to do.
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

// deleteFirst marks what the deletions that come before changes wait for, since that comes before them too, and has
// replacements wait for their deletions. It returns what decides whether resources are replaced at all.
func deleteFirst(deletions []*Step, replacing map[*graph.Resource]*Step) (decided []wait) {
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

// addWaits has steps wait for others, and returns the waits that were left out because they are part of a circle: a change
// may no longer refer to what is deleted first, but to what takes its place.
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

// keepWaits adds the waits that close no circle, one by one, in an order that does not depend on that of the steps.
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

// compare orders steps by URN, kind, and the resource that they replace or delete.
func (s *Step) compare(other *Step) int {
	key := func(s *Step) string {
		if s.Old == nil {
			return ""
		}
		return s.Old.Key()
	}
	return cmp.Or(cmp.Compare(s.URN, other.URN), cmp.Compare(s.Kind, other.Kind), cmp.Compare(key(s), key(other)))
}

// waitsFor reports whether a step is, or waits for, another one, directly or not.
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

// numbers returns the places of steps.
func numbers(steps []*Step) map[*Step]int32 {
	number := make(map[*Step]int32, len(steps))
	for i, s := range steps {
		number[s] = int32(i)
	}
	return number
}
