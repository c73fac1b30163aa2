package plan

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/internal/dag"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/expr"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// class is the result of comparing an item with the graph. It determines the questions for the provider.
type class uint8

const (
	missing    class = iota // not in the graph and to be created
	importable              // not in the graph and to be imported
	unchanged               // no differences, including in references
	restated                // different only in URN, options, or label
	unfinished              // not comparable, because stored values are unknown
	differing               // possibly different in properties
)

type classified struct {
	*item
	number int32 // index of the item
	class  class
	id     string
	// stored is item.old with references to moved resources updated. It is nil if the item is not in the graph.
	stored  *graph.Resource
	renewed map[urn.URN]renewal
	// asked is set if the request asks to replace the resource, gone if the resource no longer exists.
	asked, gone bool
	// defaultName is the resource's name if the program leaves the physical name to the engine.
	defaultName lumigl.Value
	// incarnation and seed are those of the resource or of its replacement.
	incarnation int
	seed        []byte
}

// classify resolves an item and compares it with the graph. The steps of its dependencies must be set.
func (p *planner) classify(i int32, gone bool) (*classified, error) {
	it := &p.items[i]
	var err error
	if it.inputs, err = p.resolve(it.desired.Properties); err != nil {
		return nil, err
	}
	it.inputs, _ = WrapSecrets(it.inputs, p.types[it.desired.Type].Secrets)
	defaultName := it.defaultName(p.types[it.desired.Type].Named)
	it.keepName(defaultName)
	it.ignoreChanges()
	if err := p.checkIgnored(i); err != nil {
		return nil, err
	}
	it.options = it.desired.Options.Retarget(p.final)
	id, isImported := it.options.Get("import").Text()
	it.keepImport()
	c := &classified{item: it, number: i, id: id, gone: gone, defaultName: defaultName}
	if it.old == nil {
		if isImported {
			c.class = importable
		}
		p.incarnate(c)
		return c, nil
	}
	if it.isMisnamed() {
		p.claimName(i, it.computed)
	}
	old := p.moved(it.old)
	c.gone = gone || old.Gone()
	c.stored, c.renewed, c.asked = old, p.renewed(i), p.mustReplace(it)
	c.incarnation, c.seed = old.Incarnation, old.Seed
	isSame := len(c.renewed) == 0 && !c.asked
	mustUpdate := it.urn != old.URN && old.Provisioner != "" // The tool may identify the resource by URN.
	switch {
	case isImported && id != old.ID && !c.gone:
		return nil, fmt.Errorf("cannot import %q: it already exists as %q; remove the option \"import\" or choose another name", id, old.ID)
	case isSame && p.isSame(i):
		c.class = unchanged
	case isSame && it.inputs.Equal(old.Inputs) && !it.hasFiles && !mustUpdate && len(old.Drifted) == 0 && it.ignoresAs(old):
		c.class = restated
	case old.ID == "" || !expr.IsKnown(old.Inputs) || !expr.IsKnown(old.Outputs):
		c.class = unfinished
	default:
		c.class = differing
	}
	return c, nil
}

// mayDiffer returns the items that may differ from the graph and the graph of dependencies among them. It sets the
// steps of the unchanged items.
func (p *planner) mayDiffer(steps []Step) (mayDiffer []int32, among dag.Graph) {
	number := make([]int32, len(p.items)) // 1-based index in mayDiffer, or 0
	for i := range p.items {
		it := &p.items[i]
		it.ignoreChanges()
		it.keepImport()
		isSame := p.isSame(int32(i))
		if !isSame && it.keepName(it.defaultName(false)) {
			isSame = p.isSame(int32(i))
		}
		isSame = isSame && !p.mustReplace(it) && !it.isRead()
		for _, to := range p.dependencies.Out(int32(i)) {
			isSame = isSame && number[to] == 0
		}
		switch {
		case it.untouched && it.old == nil:
		case it.untouched || isSame:
			it.step = &steps[i]
			*it.step = Step{URN: it.old.URN, Old: it.old, New: it.old}
		default:
			mayDiffer = append(mayDiffer, int32(i))
			number[i] = int32(len(mayDiffer))
		}
	}
	mayDiffer = p.sorted(mayDiffer)
	for n, i := range mayDiffer {
		number[i] = int32(n + 1)
	}
	for _, i := range mayDiffer {
		for _, to := range p.dependencies.Out(i) {
			if number[to] > 0 {
				among.To = append(among.To, number[to]-1)
			}
		}
		among.End()
	}
	return mayDiffer, among
}

// isSame reports whether the item is unchanged, not considering changes to its dependencies.
func (p *planner) isSame(i int32) bool {
	it := &p.items[i]
	return it.old != nil && !it.hasFiles && len(it.old.Drifted) == 0 && it.urn == it.old.URN && !it.isMisnamed() && it.desired.URN() == it.old.InProgram() &&
		it.inputs.Equal(it.old.Inputs) && it.options.Equal(it.old.Options) &&
		slices.Equal(p.dependenciesOf(i), it.old.Dependencies) && len(p.renewed(i)) == 0
}

// checkIgnored returns an error if "ignoreChanges" preserves a reference to a resource that the program no longer
// references, since that resource might be deleted.
func (p *planner) checkIgnored(i int32) error {
	it := &p.items[i]
	if !it.desired.Options.Get("ignoreChanges").Exists() {
		return nil
	}
	on := p.dependenciesOf(i)
	for target := range it.inputs.References() {
		if u := target.URN(); u.Type() != lumigl.ModuleType && !slices.Contains(on, u) {
			return fmt.Errorf(`the option "ignoreChanges" keeps a reference to %s: add it to "dependsOn" or remove the option`, u.Name())
		}
	}
	return nil
}

// renewal explains why a reference with an unchanged URN now refers to a different resource.
type renewal struct {
	// name is the name of the referenced resource. because is "new", "replaced", or "now another resource".
	name, because string
	// sure is false if the reference may turn out to refer to the same resource.
	sure bool
}

// renewed returns the item's references to different resources than before, by URN: resources created or replaced by
// this plan or by a failed deployment, or replaced by another module.
func (p *planner) renewed(i int32) map[urn.URN]renewal {
	it := &p.items[i]
	held := slices.IndexFunc(p.olds, func(v *graph.Version) bool {
		return it.old != nil && (v.Holds(it.old) || v.Partial && v.Deployment == it.old.Deployment)
	})
	if held < 0 {
		return nil
	}
	var all map[urn.URN]renewal
	add := func(u urn.URN, because string, sure bool) {
		if all == nil {
			all = map[urn.URN]renewal{}
		}
		all[u] = renewal{u.Name(), because, sure}
	}
	was := it.old.ReferentIDs()
	if len(p.uses) > 0 && len(was) > 0 {
		for target := range it.inputs.References() {
			if now := p.Graph.Used(p.uses, target.URN()); now != nil && was[now.URN] != "" && was[now.URN] != now.ID {
				add(now.URN, "replaced", now.ID != "")
			}
		}
	}
	for target, property := range it.desired.Properties.References() {
		to, ok := p.index[target]
		if !ok || property != "" {
			continue
		}
		if now := p.items[to].old; now != nil && !now.IsRead() && was[now.URN] != "" && was[now.URN] != now.ID {
			add(p.items[to].urn, "replaced", true)
		}
		if p.items[to].step == nil {
			continue
		}
		s := p.items[to].step
		if s.IsRead() {
			if id := was[s.URN]; id != "" && id != s.New.ID {
				add(s.URN, "now another resource", s.New.ID != "")
			}
			continue
		}
		isOther := s.Old == nil || s.Old != p.was(held, s.Old.URN)
		if s.Kind == Replace {
			add(s.URN, "replaced", isOther || !s.Possible)
		} else if isOther || s.Kind == Create {
			add(s.URN, "new", true)
		}
	}
	return all
}

// moved returns old with references to moved resources updated, since a move is not a change.
func (p *planner) moved(old *graph.Resource) *graph.Resource {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if len(p.moves) == 0 {
		return old
	}
	return old.Retarget(func(target *lumigl.Vertex) *lumigl.Vertex { return cmp.Or(p.moves[target.URN()], target) })
}
