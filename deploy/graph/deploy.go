package graph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/lumigl/expr"
)

// Update is the actual or expected result of a deployment. It is the input of [Graph.Deploy].
type Update struct {
	// Version is the module's new version. [Graph.Deploy] resolves the edges in Uses in a copy.
	Version *Version
	// Became maps resources changed or moved in place to their new form. Version contains unchanged resources as is.
	Became map[*Resource]*Resource
	// Removed lists replaced resources to delete, even from kept versions.
	Removed []*Resource
	// Interrupt lists the modules that may be interrupted: their use of an older version does not block changes or
	// deletions.
	Interrupt []string
}

// Transition is a change of the resource graph.
type Transition struct {
	// Graph is the resulting graph.
	Graph *Graph
	// Bound lists the edges of the new version. Moved lists the edges of other modules that were moved to it. Stayed
	// lists the edges of other modules that still refer to an older version.
	Bound, Moved, Stayed []Binding
	// Deleted lists the resources that are in no kept version, including pending ones, sorted by key. Held lists those
	// that stay pending instead, because a pending resource of another module refers to them.
	Deleted, Held []*Resource
	// Conflicts lists the changes blocked by kept versions.
	Conflicts []Conflict
	// Cleanups lists the modules with unreferenced versions, sorted.
	Cleanups []string
}

// Binding is an edge of a version after a transition.
type Binding struct {
	From VersionID
	Edge Edge
	// Was is the previous target of the edge. It is zero for an edge of the new version.
	Was VersionID
	// place is the edge's index in From's Uses.
	place int
	// Reason explains why the edge keeps its target, or is empty if the edge moved.
	Reason string
	// Stale is set if the value may differ from the one used to deploy From, which should then be redeployed.
	Stale bool
	// Unchecked is set if the predicate depends on an unknown value.
	Unchecked bool
}

// Conflict is a change blocked by a kept version.
type Conflict struct {
	// Resource is the resource that would be changed in place, or deleted if Deletes is set.
	Resource *Resource
	Deletes  bool
	// Version contains the resource, which User needs for the provided value Name.
	Version, User VersionID
	Name          string
}

// RefusedError reports that a version cannot be deployed or a module cannot be destroyed.
type RefusedError struct {
	// Problems contains at least one message. Messages have no trailing period.
	Problems []string
}

// Error returns the problems, one per line.
func (e *RefusedError) Error() string { return strings.Join(e.Problems, "\n") }

// Deploy returns the transition that makes u.Version the newest version of its module. The edges of the new version
// refer to the newest reachable versions that satisfy them.
//
// Edges of other modules to older versions move to the new version if it satisfies their constraints. An edge that
// reads a value stays if the value comes from a resource missing from the new version.
//
// In kept versions, resources changed in place are replaced by their new form, and removed resources are dropped along
// with their dependents. Unreachable versions lose changed and deleted resources, and partial versions of the module
// are dropped. Deploy returns the error of [Graph.Bind], if any.
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
	d.Cleanups = d.Graph.Unused()
	return d.Transition, nil
}

// deploying is the state of [Graph.Deploy].
type deploying struct {
	Update
	*Transition
	rewrite
	before, after *Graph
	// kept lists the reachable older versions of the module.
	kept []*Version
}

// addVersion makes the new version the newest and drops the module's partial versions and pending resources.
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

// lostSource explains why an edge must stay: the new version lacks a source of its value, or no longer derives the
// value from that source. It returns "" if the edge may move. Edges that call a verb and broken edges may always move.
func (d *deploying) lostSource(e Edge) string {
	if e.Broken != "" || e.Type.isVerb() {
		return ""
	}
	sources := d.Version.sources(e.Name)
	for _, r := range d.before.Version(e.To).sources(e.Name) {
		switch now := cmp.Or(d.Became[r], r); {
		case r.IsRead(): // The real resource is not affected.
		case !d.Version.Holds(now):
			return fmt.Sprintf("%q comes from %s, which the new version does not contain", e.Name, r.Key())
		case !slices.Contains(sources, now): // A later deployment may delete r.
			return fmt.Sprintf("%q comes from %s, but from other resources in the new version", e.Name, r.Key())
		}
	}
	return ""
}

// startRewrite initializes the rewrite of the kept versions.
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

// findDisplaced marks resources that kept versions must drop because a moved resource takes their URN or key.
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

// findConflicts records a conflict for each changed or removed resource that a kept version needs. If the using module
// may be interrupted, there is no conflict, but removing the resource breaks the edge.
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
	if old.Gone() { // No version can need what no longer exists.
		return false
	}
	return old.ID != now.ID || !old.Inputs.Equal(now.Inputs) || !old.Checked.Equal(now.Checked) || !old.Outputs.Equal(now.Outputs)
}

// rewriteKept rewrites the resources of kept versions and marks edges broken by the changes.
func (d *deploying) rewriteKept() {
	for i, v := range d.kept {
		d.kept[i] = d.rewritten(d.after, v)
		d.after.put(d.kept[i])
		d.after.recheck(d.kept[i])
	}
}

// findStale updates the moved and stayed edges and marks stale ones.
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

// findDeleted records the deleted resources and drops changed and deleted resources from unreachable versions.
func (d *deploying) findDeleted() {
	left := d.after.Kept(d.Version.Module)
	d.Deleted = d.before.deleted(d.Version.Module, left, d.of)
	isLost := func(r *Resource) bool { return !holds(left, r) }
	for _, v := range d.after.versions[d.Version.Module] {
		if !slices.Contains(left, v) && slices.ContainsFunc(v.resources, isLost) {
			d.after.put(v.with(slices.DeleteFunc(slices.Clone(v.resources), isLost)))
		}
	}
	d.hold(d.before, d.Version.Module, d.Removed)
}
