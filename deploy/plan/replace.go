package plan

import (
	"slices"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// mustReplace reports whether an item is replaced because the request says so. What the deployment itself has made is its
// replacement already: the plan is made again after a failure.
func (p *planner) mustReplace(it *item) bool {
	return it.old != nil && it.old.Deployment != p.Deployment && slices.ContainsFunc(p.Replace, it.isCalled)
}

// isAsked reports whether the request replaces a resource of the graph.
func (p *planner) isAsked(r *graph.Resource) bool {
	return slices.ContainsFunc(p.items, func(it item) bool { return it.old == r && p.mustReplace(&it) })
}

// replaces returns the resources that the request has replaced, as the program calls them.
func (p *planner) replaces() (all []urn.URN) {
	for _, u := range p.Replace {
		switch i := slices.IndexFunc(p.items, func(it item) bool { return it.isCalled(u) }); {
		case i < 0:
			p.faults[-1] = append(p.faults[-1], Fault{URN: u, Message: "it cannot be replaced, since the program does not have it"})
		case p.items[i].untouched:
			p.fault(int32(i), "it cannot be replaced, since it is not a target: make it one as well")
		default:
			all = append(all, p.items[i].desired.URN())
		}
	}
	return all
}
