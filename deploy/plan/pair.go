package plan

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/internal/dag"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/expr"
	"github.com/lumi-idl/lumi/lumigl/match"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// pair matches desired resources with resources of the graph. A resource named by the program matches the resource with
// its URN, or else with one of its aliases, or else with its physical name if that resource is not in the program. A
// resource named by the provider matches the first of:
//
//  1. the resource with its number, if the inputs are equal or unknown
//  2. a resource with equal inputs
//  3. a resource with the same computed name, or later, in [planner.takeOver], if the name is not known yet
//  4. the only resource with equal values for the properties that cannot be changed in place
//  5. the resource with its number, if all properties of the type can be changed in place
//
// Look-ups and calls match only those with their URN. Items are paired in dependency order, so that inputs are compared
// with references and outputs resolved.
func (p *planner) pair(ctx context.Context) error {
	p.readFormerTypes()
	free := p.candidates()
	p.free = free
	for i := range p.items { // Names and aliases take precedence.
		if it := &p.items[i]; it.isRead() {
			if it.old = p.oldOf(it.urn); it.old != nil && !it.old.IsRead() {
				it.old = nil
			}
		} else if !isNumbered(p.items[i].urn.Name()) {
			p.pairNamed(int32(i), free)
		}
	}
	var rest []int32
	for i := range p.items {
		it := &p.items[i]
		p.settle(it)
		if it.old == nil && !it.isRead() && (!isNumbered(it.urn.Name()) || !free.pairNumber(it)) {
			rest = append(rest, int32(i))
		}
	}
	if err := p.err(); err != nil || len(rest) == 0 || len(free.left) == 0 {
		return err
	}
	return p.pairRest(ctx, rest, free)
}

func (p *planner) pairNamed(i int32, free *candidates) {
	it := &p.items[i]
	if it.old = p.oldOf(it.urn); it.old != nil && !it.old.IsRead() {
		delete(free.left, it.old)
		return
	}
	it.old = nil
	for _, e := range it.desired.Options.Get("aliases").Elements() {
		alias, _ := e.Text()
		u := urn.URN(alias)
		if _, err := u.Parts(); err != nil {
			u = renamed(it.urn, alias)
		}
		old := p.oldOf(u)
		if old == nil || old.IsRead() || p.Desired.Vertex(string(u)) != nil {
			continue
		}
		if by, taken := free.aliased[old]; taken {
			p.fault(i, "the alias %q is also an alias of %s: remove one of them", alias, p.items[by].urn.Name())
		}
		free.aliased[old] = i
		free.take(it, old)
		return
	}
}

// readFormerTypes finds the former types of resources named by the provider, which numbered aliases specify.
func (p *planner) readFormerTypes() {
	for i := range p.items {
		it := &p.items[i]
		if !isNumbered(it.urn.Name()) {
			continue
		}
		for _, e := range it.desired.Options.Get("aliases").Elements() {
			alias, _ := e.Text()
			if parts, err := urn.URN(alias).Parts(); err == nil && isNumbered(parts.Name) && parts.Type != it.desired.Type {
				p.formerTypes[parts.Type] = it.desired.Type
			}
		}
	}
}

func (p *planner) candidates() *candidates {
	c := &candidates{
		left: map[*graph.Resource]bool{}, aliased: map[*graph.Resource]int32{},
		byType: map[tokens.Type][]*graph.Resource{}, number: map[urn.URN]*graph.Resource{},
		former: map[urn.URN]*lumigl.Vertex{}, hasher: match.Hasher{Work: math.MaxInt64}, alike: map[tokens.Type]map[uint64][]*graph.Resource{},
		computed: map[tokens.Type]map[string][]*graph.Resource{}, replaced: map[realResource]*graph.Resource{},
	}
	for _, v := range p.olds {
		for r := range v.Resources() {
			if r.Replaced != "" {
				c.replaced[realResource{r.Type(), r.Replaced}] = r
			}
		}
	}
	for _, v := range p.olds {
		for r := range v.Resources() {
			numbered := r.Label != ""
			if r.IsRead() || !numbered && p.Desired.Vertex(string(r.URN)) != nil || c.left[r] || p.oldOf(r.URN) != r || p.isReplaced(c, r) {
				continue
			}
			c.left[r] = true
			t := p.typeOf(r)
			c.byType[t] = append(c.byType[t], r)
			if !numbered {
				continue
			}
			if number := retyped(r.InProgram(), t); c.number[number] == nil {
				c.number[number] = r
			}
		}
	}
	return c
}

// pairEqual pairs an item with an unpaired resource that has equal inputs. It reports whether it paired the item.
func (p *planner) pairEqual(it *item, c *candidates) bool {
	if len(c.left) == 0 {
		return false
	}
	if c.pairNumber(it) {
		return true
	}
	if c.equal == nil {
		c.equal = map[uint64][]*graph.Resource{}
		for t, all := range c.byType {
			for _, r := range all {
				hash := c.hasher.Member(string(t), r.Inputs)
				c.equal[hash] = append(c.equal[hash], r)
			}
		}
	}
	alike := c.equal[c.hasher.Member(string(it.desired.Type), c.before(it))]
	if it.desired.Options.Get("ignoreChanges").Exists() {
		alike = c.byType[it.desired.Type]
	}
	for _, r := range alike {
		if p.typeOf(r) == it.desired.Type && c.isEqual(it, r) {
			c.take(it, r)
			return true
		}
	}
	return false
}

// pairRest pairs the remaining items, which differ from the graph, if only in the number. Names take precedence over
// similarity, since an item may be more similar to an unrelated resource.
func (p *planner) pairRest(ctx context.Context, rest []int32, c *candidates) error {
	left := p.sorted(rest)
	// each calls pair for each remaining item. It first settles the item again, since its dependencies may have been
	// paired.
	each := func(pair func(i int32, it *item) bool) {
		left = slices.DeleteFunc(left, func(i int32) bool {
			it := &p.items[i]
			p.settle(it)
			return isNumbered(it.urn.Name()) && p.pairEqual(it, c) || pair(i, it)
		})
	}
	each(func(int32, *item) bool { return false })
	var types []tokens.Type
	for _, i := range left {
		if t := p.items[i].desired.Type; len(c.byType[t]) > 0 {
			types = append(types, t)
		}
	}
	if err := p.describe(ctx, types); err != nil {
		return err
	}
	p.computeAll(ctx, left, c)
	each(func(i int32, it *item) bool { return p.pairComputed(ctx, i, c) })
	each(func(i int32, it *item) bool {
		t := p.types[it.desired.Type]
		switch numbered := isNumbered(it.urn.Name()); {
		case numbered && p.pairComputed(ctx, i, c):
		case numbered && len(t.Replaces) == 0:
			if r := c.number[it.urn]; r != nil && c.left[r] {
				c.take(it, r)
			}
		case numbered:
			c.pairAlike(it, t.Replaces)
		case t.Named:
			c.pairAlike(it, t.nameProperties())
		}
		return true
	})
	for i := range p.items { // Dependents can be resolved now.
		if slices.ContainsFunc(p.dependencies.Out(int32(i)), func(to int32) bool { _, found := slices.BinarySearch(rest, to); return found }) {
			p.settle(&p.items[i])
		}
	}
	return p.err()
}

// computeAll concurrently asks the provider for the names of items.
func (p *planner) computeAll(ctx context.Context, items []int32, c *candidates) {
	var all dag.Graph
	for range items {
		all.End()
	}
	_ = all.Walk(ctx, dag.WalkOptions{Parallelism: p.Parallelism}, func(ctx context.Context, n int32) error {
		p.compute(ctx, items[n], c)
		return nil
	})
}

// compute asks the provider for the name of an unpaired item that has candidates, unless the name may depend on a name
// that is still unknown.
func (p *planner) compute(ctx context.Context, i int32, c *candidates) {
	it := &p.items[i]
	if it.computed != "" || !isNumbered(it.urn.Name()) || len(c.byType[it.desired.Type]) == 0 {
		return
	}
	for _, to := range p.dependencies.Out(i) {
		if isNumbered(p.items[to].urn.Name()) {
			return
		}
	}
	properties, _ := WrapSecrets(it.inputs, p.types[it.desired.Type].Secrets)
	d := Desired{URN: it.urn, Properties: expr.Unknown(properties), References: p.references(i, lumigl.Value{})}
	checked, err := p.Provider.Check(ctx, CheckRequest{Desired: d, Seed: p.newSeed(it.desired.URN(), 0)})
	if err != nil {
		return // The error is reported when the item is decided.
	}
	d.Properties = checked
	if name, err := p.Provider.Name(ctx, d); err == nil && !isPlaceholder(name) {
		it.computed = name
	}
}

// pairComputed pairs an item with a resource in the same component that has the same computed name. It prefers a
// resource that need not be replaced, then the resource with the item's number. It reports whether it paired the item.
func (p *planner) pairComputed(ctx context.Context, i int32, c *candidates) bool {
	it := &p.items[i]
	t := it.desired.Type
	p.compute(ctx, i, c)
	if it.computed == "" {
		return false
	}
	if c.computed[t] == nil {
		p.computeOlds(ctx, t, c)
	}
	wanted := identity(c.before(it), p.types[t].Replaces)
	var found *graph.Resource
	isAlike := false
	for _, r := range c.computed[t][it.computed] {
		alike := wanted.Equal(identity(r.Inputs, p.types[t].Replaces))
		isBetter := found == nil || alike && !isAlike || alike == isAlike && r == c.number[it.urn]
		isNear := component(r.InProgram()) == component(it.urn) || r.URN.Name() == component(it.urn)+it.computed
		if c.left[r] && isNear && isBetter {
			found, isAlike = r, alike
		}
	}
	if found == nil {
		return false
	}
	it.sameName = !isAlike
	c.take(it, found)
	return true
}

// computeOlds collects the computed names of the unpaired resources of a type. It asks the provider for names that are
// not stored.
func (p *planner) computeOlds(ctx context.Context, t tokens.Type, c *candidates) {
	c.computed[t] = map[string][]*graph.Resource{}
	for _, r := range c.byType[t] {
		if !c.left[r] || r.Label == "" || r.Provisioner != "" {
			continue
		}
		name := r.Computed
		if name == "" {
			d := Desired{URN: retyped(r.URN, t), Properties: r.Checked, References: ReferencesOf(p.Graph, r)}
			if computed, err := p.Provider.Name(ctx, d); err == nil {
				name = computed
			} else {
				name = strings.TrimPrefix(r.URN.Name(), component(r.InProgram()))
			}
		}
		c.computed[t][name] = append(c.computed[t][name], r)
	}
}
