package plan

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Make plans the deployment of a module. It returns an *[Error] if the desired state is invalid or cannot be deployed.
// It may also return an error of the provider or of ctx.
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

// read splits the desired graph into items and binds the module's uses.
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
	p.output = p.withNames(p.Graph.Resolve(p.uses, p.resource))
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
	p.seeds = map[string]bool{}
	for _, v := range p.Graph.Versions(p.module.Name) {
		for r := range v.Resources() {
			p.seeds[string(r.Seed)] = true
		}
	}
	for _, pending := range p.Graph.Pending(p.module.Name) {
		p.seeds[string(pending.Resource.Seed)] = true
	}
	return nil
}

// target marks all items as untouched except targets and their dependencies. A target may be specified by its URN in
// the program or in the graph.
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
			faults = append(faults, Fault{URN: target, Message: "target not found in the program or the environment"})
		}
	}
	for i := range p.items {
		it := &p.items[i]
		if it.untouched = !seen[i]; it.untouched && it.old != nil {
			it.name(it.old.URN) // An untouched resource also keeps its URN.
		}
	}
	faults = append(faults, p.movedUses()...)
	if len(faults) > 0 {
		return &Error{Faults: faults}
	}
	return nil
}

// movedUses returns a fault for each edge that would move to another version. Untouched resources may depend on values
// of the current version, which would no longer be kept.
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
