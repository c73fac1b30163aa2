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
	"github.com/lumi-idl/lumi/lumigl/expr"
	"github.com/lumi-idl/lumi/lumigl/match"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Request is the input of [Make].
type Request struct {
	// Graph is the expected resource graph once the deployments that this one waits for are done.
	Graph *graph.Graph
	// Deployment is the number of the deployment. It may be provisional.
	Deployment graph.Deployment
	// Desired is the desired state of the module. It must be valid and must not be modified while the plan is in use.
	Desired *lumigl.Snapshot
	// Provider answers questions about resources that may differ.
	Provider Provider
	// Provisioner returns the name of the provisioner for a resource type. For modules, the type is
	// [lumigl.ModuleType].
	Provisioner func(tokens.Type) string
	// Targets limits the plan to these resources and their dependencies. If empty, the plan covers all resources.
	Targets []urn.URN
	// Replace lists resources to replace even if unchanged. Nonexistent resources are created. Resources already
	// replaced by this deployment are not replaced again.
	Replace []urn.URN
	// Interrupt lists the modules that may be interrupted.
	Interrupt []string
	// UniqueNames is set if created resources get a unique name unless the program names them.
	UniqueNames bool
	// Reads is the result of [Reads] for the approved plan if the deployment is planned again. Its look-ups and calls are
	// not made again.
	Reads []*graph.Resource
	// Incarnations is the result of [Incarnations] for the approved plan if the deployment is planned again. If it has
	// deleted a resource but not created the replacement yet, that still gets the generated values of the approved plan.
	Incarnations map[urn.URN]int
	// Parallelism limits concurrent provider calls. The default is 16.
	Parallelism int
}

// planner creates a plan in stages. Each stage is a method that sets the data used by later stages:
//
//	read      the items, their dependencies, and the versions to compare with
//	pair      the resource of the graph for each item, and its inputs
//	target    which items may change
//	decide    the step of each item, from its class and the provider's answers
//	assemble  the new version of the module, the graph transition, and the deletions
type planner struct {
	Request
	module *graph.Module
	// olds lists the versions whose resources may match items, in order of precedence.
	olds []*graph.Version
	// uses are the resolved edges of the new version. output resolves references to known outputs and names.
	uses   []graph.Edge
	output expr.Resolve
	items  []item
	// index maps desired resources to the indexes of their items.
	index map[*lumigl.Vertex]int32
	// dependencies is the graph of references in properties and options between items.
	dependencies dag.Graph
	types        map[tokens.Type]Description
	// moves maps the old URNs of moved resources to their new vertices.
	moves map[urn.URN]*lumigl.Vertex
	// seeds holds the seeds of the module's resources in all versions.
	seeds map[string]bool
	// answers holds the results of look-ups and calls by [planner.answerKey]. It and its hasher are guarded by mutex.
	answers map[uint64][]*answer
	hasher  match.Hasher
	// facts caches the [Reference] of each *[graph.Resource].
	facts sync.Map

	// formerTypes maps the former types of resources named by the provider to their current types.
	formerTypes map[tokens.Type]tokens.Type
	// free holds the resources that are not paired yet.
	free *candidates
	// holders maps current and future URNs to items. clashed is set if a computed name was taken. decided is set once
	// all items have their final names.
	holders          map[urn.URN]int32
	clashed, decided bool

	mutex  sync.Mutex        // guards faults, and free, holders, clashed, and moves while items are decided
	faults map[int32][]Fault // by item; -1 for the module
}

// answer holds the results of equal look-ups or calls, so that they are made only once.
type answer struct {
	of      *graph.Resource
	busy    chan struct{} // full during the call; testing/synctest can wait for it, unlike for a mutex
	results lumigl.Value  // absent until known
}

// oldOf returns the resource of the graph to compare with the desired resource u, or nil if there is none.
func (p *planner) oldOf(u urn.URN) *graph.Resource {
	for _, v := range p.olds {
		if r := v.Resource(u); r != nil {
			return r
		}
	}
	return nil
}

// was returns the resource that u referred to in the n-th old version, or nil. Versions created by failed deployments
// may also refer to resources of earlier versions.
func (p *planner) was(n int, u urn.URN) *graph.Resource {
	r := p.olds[n].Resource(u)
	for ; r == nil && p.olds[n].Partial && n+1 < len(p.olds); n++ {
		r = p.olds[n+1].Resource(u)
	}
	return r
}

// describe loads the missing descriptions of types.
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

// fault records a fault of item i, or of the module if i is -1.
func (p *planner) fault(i int32, format string, args ...any) {
	f := Fault{Message: fmt.Sprintf(format, args...)}
	if i >= 0 {
		f.URN, f.Source = p.items[i].urn, p.items[i].desired.Source
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.faults[i] = append(p.faults[i], f)
}

// err returns an *[Error] with the recorded faults in program order, or nil if there are none.
func (p *planner) err() error {
	var all []Fault
	for i := range int32(len(p.items)) {
		all = append(all, p.faults[i]...)
	}
	if all = append(all, p.faults[-1]...); len(all) > 0 {
		return &Error{Faults: all}
	}
	return nil
}

// dependenciesOf returns the final URNs of an item's dependencies, sorted. They include the dependencies of look-ups and
// calls, since those have no deletions that others could wait for.
func (p *planner) dependenciesOf(i int32) []urn.URN {
	var all []urn.URN // Most items have no dependencies, so do not preallocate.
	for _, to := range p.dependencies.Out(i) {
		if all = append(all, p.items[to].urn); p.items[to].isRead() {
			all = append(all, p.dependenciesOf(to)...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// typeOf returns the current type of a resource in the graph.
func (p *planner) typeOf(r *graph.Resource) tokens.Type {
	return cmp.Or(p.formerTypes[r.Type()], r.Type())
}

// isReplaced reports whether a resource was replaced under another URN. A later resource with the same ID does not
// count.
func (p *planner) isReplaced(c *candidates, r *graph.Resource) bool {
	by := c.replaced[realResource{p.typeOf(r), r.ID}]
	return by != nil && r.Deployment < by.Deployment &&
		slices.ContainsFunc(p.olds, func(v *graph.Version) bool { return v.Holds(by) && !v.Holds(r) })
}

// sorted returns items in dependency order. The result does not depend on program order, which makes names
// deterministic.
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

// newSeed returns a seed for generated values that no resource of the module has used. Seeds are derived from URNs, but
// a URN with a number such as #1 may have belonged to another resource.
func (p *planner) newSeed(u urn.URN, incarnation int) []byte {
	for ; ; incarnation++ {
		mac := hmac.New(sha256.New, []byte(p.Graph.Lineage))
		mac.Write(binary.BigEndian.AppendUint64([]byte(u), uint64(incarnation)))
		if seed := mac.Sum(nil); !p.seeds[string(seed)] {
			return seed
		}
	}
}

// mustReplace reports whether the request asks to replace an item. If the module is planned again after a failure,
// resources created by this deployment are already replacements.
func (p *planner) mustReplace(it *item) bool {
	return it.old != nil && it.old.Deployment != p.Deployment && slices.ContainsFunc(p.Replace, it.isCalled)
}
