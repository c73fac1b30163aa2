package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/internal/dag"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// planner makes one plan. Each stage is a method, and fills in what the next ones need:
//
//	read      the items, what they depend on, and the versions that they are compared with
//	pair      the resource of the graph that each item is, and its inputs
//	target    which items may change
//	decide    the step of each item: the same, or what the provider makes of the difference
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

// item is a desired resource on its way to a step.
type item struct {
	desired *lumigl.Vertex
	// urn is the resource's URN. It is that of the program until the provider chooses a name.
	urn urn.URN
	// reference is what references in stored values lead to: a vertex that carries the final URN.
	reference *lumigl.Vertex
	// old is the resource in the graph, or nil if there is none yet.
	old *graph.Resource
	// inputs are the properties with outputs filled in, where what they refer to stays as it is.
	inputs lumigl.Value
	// options are those of the program, with references to final URNs.
	options lumigl.Value
	// hasFiles is set if inputs has an asset or archive whose content only the provider can compare.
	hasFiles bool
	// computed is the name that the provider computes for it, if that is known.
	computed string
	// sameName is set if the provider chose the name of the old resource for it.
	sameName bool
	// untouched is set if the resource is not among the targets.
	untouched bool
	// step is nil until it is decided, and for a resource that neither exists nor is a target.
	step *Step
}

// Make plans the deployment of a module. The error is an *[Error] if desired state is wrong or cannot be deployed, or
// that of a provider which does not answer.
func Make(ctx context.Context, r Request) (*Plan, error) {
	r.Parallelism = cmp.Or(r.Parallelism, 16)
	p := &planner{Request: r, types: map[tokens.Type]Description{}, moves: map[urn.URN]*lumigl.Vertex{}, formerTypes: map[tokens.Type]tokens.Type{}, faults: map[int32][]Fault{}}
	if err := p.read(); err != nil {
		return nil, err
	}
	if err := p.pair(ctx); err != nil {
		return nil, err
	}
	if err := p.target(); err != nil {
		return nil, err
	}
	if err := p.decide(ctx); err != nil {
		return nil, err
	}
	return p.assemble()
}

// read takes the desired graph apart and binds what the module uses.
func (p *planner) read() (err error) {
	if p.module, err = graph.ModuleOf(p.Desired, p.Graph.Environment); err != nil {
		return AsError(err)
	}
	bound, err := p.Graph.Bind(p.module.Version(p.Deployment, nil))
	if err != nil {
		return AsError(err)
	}
	for _, b := range bound {
		p.uses = append(p.uses, b.Edge)
	}
	resources := p.module.Resources
	p.items, p.index = make([]item, len(resources)), make(map[*lumigl.Vertex]int32, len(resources))
	for i, r := range resources {
		p.items[i] = item{desired: r, urn: r.URN(), reference: r}
		p.index[r] = int32(i)
	}
	for _, r := range resources {
		for target := range r.References() {
			if to, ok := p.index[target]; ok {
				p.dependencies.To = append(p.dependencies.To, to)
			}
		}
		p.dependencies.End()
	}
	for _, v := range slices.Backward(p.Graph.Versions(p.module.Name)) {
		if v.Partial {
			p.olds = append(p.olds, v)
		}
	}
	newest := p.Graph.Newest(p.module.Name)
	if newest != nil {
		p.olds = append(p.olds, newest)
	}
	for _, v := range p.Graph.Kept(p.module.Name) {
		if v != newest {
			p.olds = append(p.olds, v)
		}
	}
	return nil
}

// target finds out which resources are not among the targets, nor needed by them. A target may have the URN in the program,
// or that in the graph.
func (p *planner) target() error {
	if len(p.Targets) == 0 {
		return nil
	}
	var faults []Fault
	seen := make([]bool, len(p.items))
	for _, target := range p.Targets {
		i := slices.IndexFunc(p.items, func(it item) bool { return it.isCalled(target) })
		switch {
		case i >= 0:
			p.dependencies.Reach(int32(i), seen)
			seen[i] = true
		case !slices.ContainsFunc(p.olds, func(v *graph.Version) bool { return v.Resource(target) != nil }):
			faults = append(faults, Fault{URN: target, Message: "there is no such resource to target, neither in the program nor in the environment"})
		}
	}
	for i := range p.items {
		it := &p.items[i]
		if it.untouched = !seen[i]; it.untouched && it.old != nil {
			it.name(it.old.URN) // It does not move either.
		}
	}
	faults = append(faults, p.movedUses()...)
	if len(faults) > 0 {
		return &Error{Faults: faults}
	}
	return nil
}

// movedUses returns faults about edges that would lead elsewhere. Resources that are not targets may have values of the
// versions that they lead to now, which would no longer be kept.
func (p *planner) movedUses() (faults []Fault) {
	newest := p.Graph.Newest(p.module.Name)
	if newest == nil {
		return nil
	}
	for _, was := range newest.Uses {
		stays := slices.ContainsFunc(p.uses, func(e graph.Edge) bool {
			return e.Module == was.Module && e.Name == was.Name && e.To == was.To
		})
		if !stays {
			faults = append(faults, Fault{Message: fmt.Sprintf(
				"%s would no longer use %s.%s of %s, which resources that are not targets may need: deploy without targets",
				p.module.Name, was.Module, was.Name, was.To)})
		}
	}
	return faults
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

// AsError makes an *[Error] of what the resource graph refuses.
func AsError(err error) error {
	var refused *graph.RefusedError
	if !errors.As(err, &refused) {
		return err
	}
	e := &Error{}
	for _, problem := range refused.Problems {
		e.Faults = append(e.Faults, Fault{Message: problem})
	}
	return e
}
