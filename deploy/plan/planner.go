package plan

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/internal/dag"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Request asks for the plan of a deployment.
type Request struct {
	// Graph is the resource graph as it will be after the deployments that this one waits for.
	Graph *graph.Graph
	// Deployment is the number that the deployment has or would get.
	Deployment graph.Deployment
	// Desired is the desired state of the module. It must be valid, and must not change while the plan is in use.
	Desired *lumigl.Snapshot
	// Provider is asked about resources that differ.
	Provider Provider
	// Provisioner returns the name of the provisioner that handles a type; that of modules is [lumigl.ModuleType].
	Provisioner func(tokens.Type) string
	// Targets limits the plan to these resources and what they depend on. If it is empty, all are planned.
	Targets []urn.URN
	// Replace has resources of the program that are replaced even if nothing differs. One that does not exist yet is created,
	// and one that this deployment has replaced already is not replaced again.
	Replace []urn.URN
	// Interrupt has the modules that may be interrupted.
	Interrupt []string
	// Parallelism is how many calls of the provider run at once: 16 if it is 0.
	Parallelism int
}

// planner makes one plan. Each stage is a method, and fills in what the next ones need:
//
//	read      the items, what they depend on, and the versions that they are compared with
//	pair      the resource of the graph that each item is, and its inputs
//	target    which items may change
//	decide    the step of each item: it is classified, the provider is asked, and the step is concluded
//	assemble  the new version of the module, what becomes of the graph, and what is deleted therefore
type planner struct {
	Request
	module *graph.Module
	// olds are the versions whose resources may be those that the program has, in order of precedence.
	olds []*graph.Version
	// uses are where the edges of the new version lead.
	uses  []graph.Edge
	items []item
	// index has the items by desired resource.
	index map[*lumigl.Vertex]int32
	// dependencies leads from each item to those that its properties and options refer to.
	dependencies dag.Graph
	types        map[tokens.Type]Description
	// moves has what references to resources that moved lead to from now on, by their old URNs.
	moves map[urn.URN]*lumigl.Vertex
	// seeds are those of all resources of the module, in any version.
	seeds map[string]bool
	// facts has what is known about resources that others refer to, a [Reference] by *[graph.Resource].
	facts sync.Map

	// formerTypes has the types, by their former tokens, of resources that the provider names.
	formerTypes map[tokens.Type]tokens.Type
	// free has the resources that no item is paired with.
	free *candidates
	// holders has the items by the URNs that they have or get. clashed is set if a name was taken. decided is set once all
	// items have their names.
	holders          map[urn.URN]int32
	clashed, decided bool

	mutex  sync.Mutex        // of faults, and of free, holders, clashed and moves while items are decided
	faults map[int32][]Fault // by item, and -1 for the module
}

// oldOf returns the resource of the graph that a desired one with a URN is compared with, or nil.
func (p *planner) oldOf(u urn.URN) *graph.Resource {
	for _, v := range p.olds {
		if r := v.Resource(u); r != nil {
			return r
		}
	}
	return nil
}

// was returns what a reference in the n-th of the old versions leads to. What a failed deployment made refers to the
// resources before as well.
func (p *planner) was(n int, u urn.URN) *graph.Resource {
	r := p.olds[n].Resource(u)
	for ; r == nil && p.olds[n].Partial && n+1 < len(p.olds); n++ {
		r = p.olds[n+1].Resource(u)
	}
	return r
}

// describe asks for the types that have not been described yet.
func (p *planner) describe(ctx context.Context, types []tokens.Type) error {
	slices.Sort(types)
	types = slices.DeleteFunc(slices.Compact(types), func(t tokens.Type) bool { _, known := p.types[t]; return known })
	if len(types) == 0 {
		return nil
	}
	all, err := p.Provider.Describe(ctx, types)
	if err != nil {
		return err
	}
	if len(all) != len(types) {
		return fmt.Errorf("the provider described %d types instead of %d", len(all), len(types))
	}
	for i, d := range all {
		p.types[types[i]] = d
	}
	return nil
}

// fault records that an item, or the module if it is -1, cannot be deployed.
func (p *planner) fault(i int32, format string, args ...any) {
	f := Fault{Message: fmt.Sprintf(format, args...)}
	if i >= 0 {
		f.URN, f.Source = p.items[i].urn, p.items[i].desired.Source
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.faults[i] = append(p.faults[i], f)
}

// wrong returns the faults so far, in the order of the program, or nil.
func (p *planner) wrong() error {
	var all []Fault
	for i := range int32(len(p.items)) {
		all = append(all, p.faults[i]...)
	}
	if all = append(all, p.faults[-1]...); len(all) > 0 {
		return &Error{Faults: all}
	}
	return nil
}

// dependenciesOf returns the final URNs of what an item refers to, sorted.
func (p *planner) dependenciesOf(i int32) []urn.URN {
	var all []urn.URN // nil without an allocation for the many that refer to nothing
	for _, to := range p.dependencies.Out(i) {
		all = append(all, p.items[to].urn)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// typeOf returns the type that a resource of the graph has in the program.
func (p *planner) typeOf(r *graph.Resource) tokens.Type {
	return cmp.Or(p.formerTypes[r.Type()], r.Type())
}

// isReplaced reports whether a resource was replaced under another URN. A later one may have the same ID.
func (p *planner) isReplaced(c *candidates, r *graph.Resource) bool {
	by := c.replaced[realResource{p.typeOf(r), r.ID}]
	return by != nil && r.Deployment < by.Deployment &&
		slices.ContainsFunc(p.olds, func(v *graph.Version) bool { return v.Holds(by) && !v.Holds(r) })
}

// sorted returns items in an order that does not depend on that of the program, so that names do not either. Each comes after
// those that it refers to.
func (p *planner) sorted(items []int32) []int32 {
	depth := make([]int32, len(p.items))
	for i := range depth {
		for _, to := range p.dependencies.Out(int32(i)) {
			depth[i] = max(depth[i], depth[to]+1)
		}
	}
	return slices.SortedFunc(slices.Values(items), func(a, b int32) int {
		x, y := p.items[a].desired.URN(), p.items[b].desired.URN()
		n, m := last(x), last(y)
		return cmp.Or(cmp.Compare(depth[a], depth[b]), cmp.Compare(len(n), len(m)), cmp.Compare(n, m), cmp.Compare(x, y))
	})
}

// newSeed returns what generated values of a resource derive from: one that no resource of the module has, since a number
// such as #1 may have been that of another resource before.
func (p *planner) newSeed(u urn.URN, incarnation int) []byte {
	for ; ; incarnation++ {
		mac := hmac.New(sha256.New, []byte(p.Graph.Lineage))
		mac.Write(binary.BigEndian.AppendUint64([]byte(u), uint64(incarnation)))
		if seed := mac.Sum(nil); !p.seeds[string(seed)] {
			return seed
		}
	}
}

// mustReplace reports whether an item is replaced because the request says so. What the deployment itself has made is its
// replacement already: the plan is made again after a failure.
func (p *planner) mustReplace(it *item) bool {
	return it.old != nil && it.old.Deployment != p.Deployment && slices.ContainsFunc(p.Replace, it.isCalled)
}
