package graph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/lumigl/expr"
)

// Update is what a deployment does to the resource graph.
type Update struct {
	// Version is the module's new version. [Graph.Deploy] sets where its Uses lead, in a copy.
	Version *Version
	// Became has the resources of the graph that the deployment changed or moved in place, and what they are now. The
	// resources that it left alone are in Version as they are.
	Became map[*Resource]*Resource
	// Removed has the resources that are deleted even if kept versions hold them, since replacements take their place.
	Removed []*Resource
	// Interrupt has the modules whose need for an older version stops neither a change nor a deletion.
	Interrupt []string
}

// Transition is a step of the resource graph from one state to another.
type Transition struct {
	// Graph is the graph afterward.
	Graph *Graph
	// Bound has the edges of the new version. Moved has those of other modules that lead to it from now on, and Stayed
	// those that still lead to an older version.
	Bound, Moved, Stayed []Binding
	// Deleted has the resources that no version that is kept holds any more, sorted by key, including pending ones.
	Deleted []*Resource
	// Conflicts has what the update must not do, since kept versions need it.
	Conflicts []Conflict
	// Cleanups has the modules with versions that nothing leads to any more, sorted.
	Cleanups []string
}

// Binding is where an edge of a version leads after a transition.
type Binding struct {
	From VersionID
	Edge Edge
	// Was is where the edge led before; it is zero for an edge of the new version.
	Was VersionID
	// place is that of the edge among those of From.
	place int
	// Reason is why the edge stays where it was, or empty.
	Reason string
	// Stale is set if the value differs from the one that From was deployed with, or may differ, so that From should be
	// deployed again.
	Stale bool
	// Unchecked is set if the predicate is over a value that is not known yet.
	Unchecked bool
}

// Conflict is a change that a kept version does not allow.
type Conflict struct {
	// Resource would be changed in place, or deleted if Deletes is set.
	Resource *Resource
	Deletes  bool
	// Version needs the resource, since User uses Name of it.
	Version, User VersionID
	Name          string
}

// RefusedError says that a version cannot be deployed, or a module not destroyed.
type RefusedError struct {
	// Problems has at least one, without full stops.
	Problems []string
}

// Error returns the problems, one a line.
func (e *RefusedError) Error() string { return strings.Join(e.Problems, "\n") }

// Deploy returns the transition to the graph in which u.Version is the newest version of its module.
//
// Each edge that leads to a version of the module moves to the new one if that fulfills its constraint. An edge that reads
// a value stays nevertheless while the value comes from a resource that the new version does not hold. The edges of the
// new version lead to the newest versions that fulfill them among those that the root reaches.
//
// A version that the root still reaches, and that holds a resource which changed in place, holds it as it is now. With a
// removed resource it loses what depends on that. Versions that the root does not reach afterward lose their edges to
// resources that were changed or deleted. Partial versions of the module go. The error is that of [Graph.Bind].
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

// deploying is a transition to a new version in the making.
type deploying struct {
	Update
	*Transition
	rewrite
	before, after *Graph
	// kept has the versions of the module that the root reaches, except the new one.
	kept []*Version
}

// addVersion leads the root to the new version. What was partial or pending is held by it, or deleted.
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

// moveEdges moves the edges from versions that the root reaches to the new version, except those that have to stay.
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

// lostSource says which resource that an edge reads a value of is not held by the new version, or not what the value comes
// from any more, or returns "". A verb is called, not read, and a broken edge protects nothing that it could still read.
func (d *deploying) lostSource(e Edge) string {
	if e.Broken != "" || e.Type.isVerb() {
		return ""
	}
	sources := d.Version.sources(e.Name)
	for _, r := range d.before.Version(e.To).sources(e.Name) {
		switch now := cmp.Or(d.Became[r], r); {
		case !d.Version.Holds(now):
			return fmt.Sprintf("%q comes from %s, which the new version does not contain", e.Name, r.Key())
		case !slices.Contains(sources, now): // It may go in a later deployment.
			return fmt.Sprintf("%q comes from %s, but from other resources in the new version", e.Name, r.Key())
		}
	}
	return ""
}

// startRewrite finds what became of the resources of kept versions.
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

// findDisplaced finds what no kept version can hold any more, since a resource that moves takes its URN, or even its key.
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

// findConflicts finds what is changed or removed although a kept version needs it. Where the module that it is needed for
// is interrupted, that is not a conflict, but a removal breaks the edge.
func (d *deploying) findConflicts() {
	for _, v := range d.kept {
		changed := slices.DeleteFunc(slices.Clone(v.resources), func(r *Resource) bool { return !d.changes(r) })
		if len(changed) == 0 {
			continue // Finding what is needed takes longer.
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

// rewriteKept gives kept versions what the resources they hold have become, which may break the edges that stayed.
func (d *deploying) rewriteKept() {
	for i, v := range d.kept {
		d.kept[i] = d.rewritten(d.after, v)
		d.after.put(d.kept[i])
		d.after.recheck(d.kept[i])
	}
}

// findStale finds the edges whose value differs from before, or may differ.
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

// sameResult reports whether two versions certainly provide the same.
func sameResult(old, new *Provided) bool {
	return old != nil && new != nil && old.Result.Equal(new.Result) && old.Result.Exists() && expr.IsKnown(old.Result)
}

// findDeleted also takes what was changed or deleted from versions that the root does not reach.
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
