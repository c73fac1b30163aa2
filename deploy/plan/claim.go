package plan

import (
	"fmt"
	"maps"
	"slices"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// claimName gives an item the name computed by its provider. If the name is taken, it appends the next free number.
func (p *planner) claimName(i int32, name string) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	it := &p.items[i]
	prefix, now := it.split(it.urn)
	isKept := now == name || isNth(now, name) && (it.computed == name || it.computed == "")
	if it.computed = name; isKept {
		return
	}
	free := renamed(it.urn, prefix+name)
	for n := 2; !p.isFree(i, free); n++ {
		p.clashed = true
		free = renamed(it.urn, fmt.Sprintf("%s%s-%d", prefix, name, n))
	}
	p.holders[free] = i
	it.name(free)
	if it.old != nil {
		p.moves[it.old.URN] = it.reference
	}
}

// takeOver pairs an item with the resource that has the name chosen by the provider if that resource would otherwise be
// deleted, since the provider might confuse the two. It reports whether it paired the item.
func (p *planner) takeOver(i int32, name string) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	it := &p.items[i]
	prefix, _ := it.split(it.urn)
	u := renamed(it.urn, prefix+name)
	old := p.oldOf(u)
	for _, former := range slices.Sorted(maps.Keys(p.formerTypes)) {
		if p.formerTypes[former] == u.Type() && !p.free.left[old] {
			old = p.oldOf(retyped(u, former))
		}
	}
	if by, taken := p.holders[u]; !p.free.left[old] || taken && by != i {
		return false
	}
	delete(p.free.left, old)
	p.holders[u] = i
	it.old, it.sameName, it.computed = old, true, old.Computed
	it.name(u)
	return true
}

// isFree reports whether an item may take a URN chosen by its provider.
func (p *planner) isFree(i int32, u urn.URN) bool {
	if by, taken := p.holders[u]; taken {
		return by == i
	}
	for _, v := range p.Graph.Versions(p.module.Name) {
		if r := v.Resource(u); r != nil && (p.free.left[r] || p.isReplaced(p.free, r) || !slices.Contains(p.olds, v)) {
			return false
		}
	}
	return !slices.ContainsFunc(p.Graph.Pending(p.module.Name), func(d graph.Pending) bool { return d.Resource.URN == u })
}

// checkpoint saves the state of all items and returns a function that restores it.
func (p *planner) checkpoint() (undo func()) {
	items, left, holders, moves := slices.Clone(p.items), maps.Clone(p.free.left), maps.Clone(p.holders), maps.Clone(p.moves)
	return func() {
		copy(p.items, items)
		p.free.left, p.holders, p.moves = left, holders, moves
		clear(p.faults)
	}
}

// checkNames records a fault for each resource that cannot be created or imported because its name or the real resource
// is already in use.
func (p *planner) checkNames() {
	p.checkKeptNames()
	imported := map[realResource]int32{} // item by resource
	for i := range int32(len(p.items)) {
		s := p.items[i].step
		if s == nil || s.Kind != Create && s.Kind != Import {
			continue
		}
		p.checkImport(i, imported)
		u := p.items[i].urn
		for _, v := range p.Graph.Versions(p.module.Name) {
			if r := v.Resource(u); r != nil && !r.IsRead() && !slices.Contains(p.olds, v) {
				p.fault(i, "%s still exists until Cleanup[%s] deletes it: deploy again after that", r.Key(), p.module.Name)
			}
		}
		for _, pending := range p.Graph.Pending(p.module.Name) {
			if pending.Resource.URN == u || p.isNamedAs(i, pending.Resource) {
				p.fault(i, "%s is pending deletion: run 'lumi retry %s' to try again", pending.Resource.Key(), p.module.Name)
			}
		}
	}
}

// isNamedAs reports whether an item creates a resource with the same physical name as other.
func (p *planner) isNamedAs(i int32, other *graph.Resource) bool {
	it := &p.items[i]
	return it.step.Kind == Create && it.desired.Type == other.Type() && p.types[other.Type()].sameName(it.step.New.Checked, other.Checked)
}

// checkImport records a fault if an item imports a resource already managed by the module. Deleting one of the two
// would delete the other.
func (p *planner) checkImport(i int32, imported map[realResource]int32) {
	it := &p.items[i]
	if it.step.Kind != Import {
		return
	}
	real := realResource{it.desired.Type, it.step.New.ID}
	if by, ok := imported[real]; ok {
		p.fault(i, "%s also imports %q: remove one of them", p.items[by].urn.Name(), real.id)
	}
	imported[real] = i
	for _, v := range p.Graph.Versions(p.module.Name) {
		for r := range v.Resources() {
			if real == (realResource{r.Type(), r.ID}) && !r.IsRead() && !r.Flag("retainOnDelete") {
				p.fault(i, `cannot import %q: it is already managed as %s; to rename it, use the option "aliases"`, real.id, r.Key())
				return
			}
		}
	}
}
