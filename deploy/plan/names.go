package plan

import (
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// isNumbered reports whether the last part of a URN stands for a name that the provider chooses, such as "#1" or
// "web/#1".
func isNumbered(name string) bool {
	number, ok := strings.CutPrefix(name[strings.LastIndexByte(name, '/')+1:], "#")
	return ok && number != "" && strings.Trim(number, "0123456789") == ""
}

// renamed returns a URN with another last part.
func renamed(u urn.URN, name string) urn.URN {
	return urn.URN(strings.TrimSuffix(string(u), u.Name()) + name)
}

// checkNames reports resources that cannot be created or imported, since another one has the name or is the same.
func (p *planner) checkNames() {
	var created, chosen []int32 // chosen has those whose names the provider chose
	for i := range p.items {
		it := &p.items[i]
		if it.step == nil {
			continue
		}
		isNew := it.step.Kind == Create || it.step.Kind == Import
		if isNew {
			created = append(created, int32(i))
		}
		if isNumbered(it.desired.URN().Name()) && (isNew || it.sameName) {
			chosen = append(chosen, int32(i))
		}
	}
	holders := map[urn.URN]int32{}
	for i := range p.items {
		if _, isChosen := slices.BinarySearch(chosen, int32(i)); len(chosen) > 0 && !isChosen {
			holders[p.items[i].urn] = int32(i)
		}
	}
	for _, i := range chosen {
		u := p.items[i].urn
		if by, taken := holders[u]; taken {
			p.fault(i, "the provider chose the name %q for %s, which %s has: change the properties that it is made of",
				u.Name(), p.items[i].desired.URN().Name(), p.items[by].desired.URN().Name())
			continue
		}
		holders[u] = i
	}
	imported := map[realResource]int32{} // by which item
	for _, i := range created {
		p.checkImport(i, imported)
		u := p.items[i].urn
		for _, v := range p.Graph.Versions(p.module.Name) {
			if r := v.Resource(u); r != nil && !slices.Contains(p.olds, v) {
				p.fault(i, "%s still exists, until Cleanup[%s] deletes it: deploy after that", r.Key(), p.module.Name)
			}
		}
		for _, pending := range p.Graph.Pending(p.module.Name) {
			if pending.Resource.URN == u || p.isNamedAs(i, pending.Resource) {
				p.fault(i, "%s is still to be deleted: 'lumi retry %s' tries again", pending.Resource.Key(), p.module.Name)
			}
		}
	}
}

// isNamedAs reports whether the resource that an item creates has the physical name of another one.
func (p *planner) isNamedAs(i int32, other *graph.Resource) bool {
	it := &p.items[i]
	name := it.step.New.Checked.Get("name")
	return it.step.Kind == Create && it.desired.Type == other.Type() && p.types[other.Type()].Named &&
		!name.IsUnknown() && name.Equal(other.Checked.Get("name"))
}

// checkImport reports an import of what is a resource of the module already: if the one went, the other would be gone, too.
func (p *planner) checkImport(i int32, imported map[realResource]int32) {
	it := &p.items[i]
	if it.step.Kind != Import {
		return
	}
	real := realResource{it.desired.Type, it.step.New.ID}
	if by, ok := imported[real]; ok {
		p.fault(i, "%s imports %q as well: remove one of them", p.items[by].urn.Name(), real.id)
	}
	imported[real] = i
	for _, v := range p.Graph.Versions(p.module.Name) {
		for r := range v.Resources() {
			if real == (realResource{r.Type(), r.ID}) && !r.Flag("retainOnDelete") {
				p.fault(i, `%q cannot be imported, since it is %s: to rename that, use the option "aliases"`, real.id, r.Key())
				return
			}
		}
	}
}

// realResource identifies what a vertex represents.
type realResource struct {
	of tokens.Type
	id string
}
