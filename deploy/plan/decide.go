package plan

import (
	"context"

	"github.com/lumi-idl/lumi/internal/dag"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// decide sets the step of every item. It asks the provider only about items that differ from the graph or depend on
// created, replaced, or updated resources.
func (p *planner) decide(ctx context.Context) error {
	p.holders = make(map[urn.URN]int32, len(p.items))
	for i := range p.items {
		it := &p.items[i]
		if p.holders[it.urn] = int32(i); it.old != nil && it.old.URN != it.urn {
			p.moves[it.old.URN] = it.reference
		}
	}
	steps := make([]Step, len(p.items)) // allocated at once for speed
	mayDiffer, among := p.mayDiffer(steps)
	var types []tokens.Type
	for _, i := range mayDiffer {
		types = append(types, p.items[i].desired.Type)
	}
	if err := p.describe(ctx, types); err != nil {
		return err
	}
	decide := func(parallelism int) {
		_ = among.Walk(ctx, dag.WalkOptions{Parallelism: parallelism}, func(ctx context.Context, n int32) error {
			i := mayDiffer[n]
			s, err := p.decideItem(ctx, i, false)
			if err != nil {
				p.fault(i, "%v", err)
				return err // skips dependent items
			}
			steps[i], p.items[i].step = s, &steps[i]
			return nil
		})
	}
	undo := p.checkpoint()
	decide(p.Parallelism)
	if p.clashed { // Decide sequentially, so that names are deterministic.
		undo()
		decide(1)
	}
	p.decided = true
	if err := context.Cause(ctx); err != nil {
		return err
	}
	p.checkNames()
	return p.err()
}

// decideItem classifies an item, asks the provider, and returns the item's step. The steps of the item's dependencies
// must be set. If the provider gives a missing item the name of a resource in the graph, the item is classified again
// as that resource. gone is set if the resource was already deleted and must be replaced.
func (p *planner) decideItem(ctx context.Context, i int32, gone bool) (Step, error) {
	it := &p.items[i]
	if err := p.checkUse(it); err != nil {
		return Step{}, err
	}
	if it.isRead() {
		return p.decideRead(ctx, i)
	}
	for {
		c, err := p.classify(i, gone)
		if err != nil {
			return Step{}, err
		}
		a, err := p.ask(ctx, c)
		if err != nil {
			return Step{}, err
		}
		if !a.takenOver {
			return p.conclude(c, a), nil
		}
	}
}
