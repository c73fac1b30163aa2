package graph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/lumigl/expr"
)

// Update describes the effect of a deployment on the resource graph.
type Update struct {
	// Version is the module's new version. [Graph.Deploy] resolves its Uses, in a copy.
	Version *Version
	// Became maps resources that the deployment changed or moved in place to their new form. Version contains unchanged
	// resources as is.
	Became map[*Resource]*Resource
	// Removed lists the resources to delete even if kept versions contain them, because replacements take their place.
	Removed []*Resource
	// Interrupt lists the modules whose use of an older version does not prevent changes or deletions.
	Interrupt []string
}

// Transition is a change of the resource graph.
type Transition struct {
	// Graph is the graph afterward.
	Graph *Graph
	// Bound lists the edges of the new version. Moved lists the edges of other modules that now refer to it; Stayed
	// lists their edges that still refer to an older version.
	Bound, Moved, Stayed []Binding
	// Deleted lists the resources no longer in any kept version, including pending ones, sorted by key.
	Deleted []*Resource
	// Conflicts lists the changes blocked by kept versions.
	Conflicts []Conflict
	// Cleanups lists the modules with unreferenced versions, sorted.
	Cleanups []string
}

// Binding is an edge of a version after a transition.
type Binding struct {
	From VersionID
	Edge Edge
	// Was is the previous target of the edge; zero for an edge of the new version.
	Was VersionID
	// place is the edge's index in From's Uses.
	place int
	// Reason is why the edge keeps its target, or empty.
	Reason string
	// Stale is set if the value differs, or may differ, from the one used to deploy From, which should then be
	// redeployed.
	Stale bool
	// Unchecked is set if the predicate depends on a value that is not known yet.
	Unchecked bool
}

// Conflict is a change blocked by a kept version.
type Conflict struct {
	// Resource is the resource that would be changed in place, or deleted if Deletes is set.
	Resource *Resource
	Deletes  bool
	// Version needs the resource because User uses its value Name.
	Version, User VersionID
	Name          string
}

// RefusedError reports that a version cannot be deployed or a module cannot be destroyed.
type RefusedError struct {
	// Problems has at least one element. Its texts have no final period.
	Problems []string
}

// Error returns the problems, one per line.
func (e *RefusedError) Error() string { return strings.Join(e.Problems, "\n") }

// Deploy returns the transition to the graph in which u.Version is the newest version of its module.
//
// Each edge to a version of the module moves to the new version if it satisfies the constraint. However, an edge that
// reads a value stays while the value comes from a resource missing from the new version. The new version's edges refer
// to the newest satisfying versions reachable from the root.
//
// A version that is still reachable gets the current form of resources that changed in place. If a resource is removed,
// it also loses its dependents. Unreachable versions lose their changed and deleted resources. Partial versions of the
// module are dropped. It returns the error of [Graph.Bind].
func (g *Graph) Deploy(u Update) (*Transition, error) {
	bound, err := g.Bind(u.Version)
	if err != nil {
		return nil, err
	}
	d := &deploying{Update: u, before: g, after: g.clone()}
	d.Transition = &Transition{Graph: d.after, Bound: bound}
	d.addVersion()
	d.moveEdges()
	d.kept = d.after.Kept(d.Version.Module)[1:]
	d.startRewrite()
	d.findDisplaced()
	d.findConflicts()
	d.rewriteKept()
	d.findStale()
	d.findDeleted()
	d.Cleanups = d.after.Unused()
	return d.Transition, nil
}

// deploying is the state of [Graph.Deploy].
type deploying struct {
	Update
	*Transition
	rewrite
	before, after *Graph
	// kept lists the reachable versions of the module except the new one.
	kept []*Version
}

// addVersion makes the new version the newest. Partial and pending resources are either in it or deleted.
func (d *deploying) addVersion() {
	version := *d.Version
	version.Uses = nil
	for _, b := range d.Bound {
		version.Uses = append(version.Uses, b.Edge)
	}
	d.Version = &version
	isPartial := func(v *Version) bool { return v.Partial }
	old := slices.DeleteFunc(slices.Clone(d.before.versions[version.Module]), isPartial)
	d.after.versions[version.Module] = append(old, &version)
	d.after.newest[version.Module] = version.VersionID
	delete(d.after.pending, version.Module)
}

// moveEdges moves the edges of reachable versions to the new version unless they must stay.
func (d *deploying) moveEdges() {
	reached := d.before.reached()
	for _, b := range d.before.edges() {
		if b.Was.Module != d.Version.Module || b.From.Module == d.Version.Module || !reached[b.From] {
			continue
		}
		answer := d.Version.Fulfills(b.Edge.Constraint)
		if b.Reason = cmp.Or(answer.Reason, d.lostSource(b.Edge)); b.Reason != "" {
			d.Stayed = append(d.Stayed, b)
			continue
		}
		b.Unchecked = answer.Unknown
		b.Edge.To, b.Edge.Broken = d.Version.VersionID, ""
		d.Moved = append(d.Moved, b)
	}
	d.after.putEdges(d.Moved...)
}

// lostSource explains why an edge cannot move: the new version lacks a source of its value, or no longer derives the
// value from it. It returns "" if the edge can move. Verbs are called, not read, and a broken edge protects nothing.
func (d *deploying) lostSource(e Edge) string {
	if e.Broken != "" || e.Type.isVerb() {
		return ""
	}
	sources := d.Version.sources(e.Name)
	for _, r := range d.before.Version(e.To).sources(e.Name) {
		switch now := cmp.Or(d.Became[r], r); {
		case !d.Version.Holds(now):
			return fmt.Sprintf("%q comes from %s, which the new version does not contain", e.Name, r.Key())
		case !slices.Contains(sources, now): // A later deployment may delete it.
			return fmt.Sprintf("%q comes from %s, but from other resources in the new version", e.Name, r.Key())
		}
	}
	return ""
}

// startRewrite maps the resources of kept versions to their new form.
func (d *deploying) startRewrite() {
	d.rewrite = rewrite{now: copied(d.Became), names: names{}, newest: d.Version}
	for _, r := range d.Removed {
		d.now[r] = nil
	}
	for old, now := range d.Became {
		if old.URN != now.URN {
			d.names[old.URN] = now.URN
		}
	}
}

// findDisplaced finds resources that kept versions must drop because a moved resource takes their URN or key.
func (d *deploying) findDisplaced() {
	for old, now := range d.Became {
		if old.URN == now.URN || d.names[now.URN] != "" {
			continue
		}
		for _, v := range d.kept {
			r := v.Resource(now.URN)
			if r != nil && (v.Resource(old.URN) != nil || r.Deployment == now.Deployment) {
				d.now[r] = nil
			}
		}
	}
}

// findConflicts finds changed and removed resources that a kept version needs. An interrupted user causes no conflict,
// but a removal breaks its edge.
func (d *deploying) findConflicts() {
	for _, v := range d.kept {
		changed := slices.DeleteFunc(slices.Clone(v.resources), func(r *Resource) bool { return !d.changes(r) })
		if len(changed) == 0 {
			continue // Needs is expensive.
		}
		needed := d.after.Needs(v.VersionID)
		for _, r := range changed {
			deletes := d.of(r) == nil
			for _, b := range needed[r] {
				switch {
				case !slices.Contains(d.Interrupt, b.From.Module):
					c := Conflict{Resource: r, Deletes: deletes, Version: v.VersionID, User: b.From, Name: b.Edge.Name}
					d.Conflicts = append(d.Conflicts, c)
				case deletes:
					d.after.breakEdge(b, fmt.Sprintf("interrupted: %s deleted %s", d.Version, r.Key()))
				}
			}
		}
	}
}

// changes reports whether a resource was changed or removed, rather than only moved.
func (d *deploying) changes(r *Resource) bool {
	now := d.of(r)
	if now == nil || now == r {
		return now == nil
	}
	old := d.names.ofResource(r)
	return old.ID != now.ID || !old.Inputs.Equal(now.Inputs) || !old.Checked.Equal(now.Checked) || !old.Outputs.Equal(now.Outputs)
}

// rewriteKept updates the resources in kept versions, which may break the edges that stayed.
func (d *deploying) rewriteKept() {
	for i, v := range d.kept {
		d.kept[i] = d.rewritten(d.after, v)
		d.after.put(d.kept[i])
		d.after.recheck(d.kept[i])
	}
}

// findStale marks the edges whose value has changed or may have changed.
func (d *deploying) findStale() {
	for _, bindings := range [][]Binding{d.Moved, d.Stayed} {
		for i := range bindings {
			b := &bindings[i]
			b.Edge = d.after.Version(b.From).Uses[b.place]
			old, now := d.before.Version(b.Was), d.after.Version(b.Edge.To)
			b.Stale = old != now && !sameResult(old.Provided(b.Edge.Name), now.Provided(b.Edge.Name))
		}
	}
}

// sameResult reports whether two provided values are known to be equal.
func sameResult(old, new *Provided) bool {
	return old != nil && new != nil && old.Result.Equal(new.Result) && old.Result.Exists() && expr.IsKnown(old.Result)
}

// findDeleted also removes changed and deleted resources from unreachable versions.
func (d *deploying) findDeleted() {
	left := d.after.Kept(d.Version.Module)
	d.Deleted = d.before.deleted(d.Version.Module, left, d.of)
	isLost := func(r *Resource) bool { return !holds(left, r) }
	for _, v := range d.after.versions[d.Version.Module] {
		if !slices.Contains(left, v) && slices.ContainsFunc(v.resources, isLost) {
			d.after.put(v.with(slices.DeleteFunc(slices.Clone(v.resources), isLost)))
		}
	}
}
