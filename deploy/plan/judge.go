package plan

import (
	"context"
	"fmt"
	"slices"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/expr"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// renewal is why a reference leads to another resource than before, although the URN is the same.
type renewal struct {
	// name is that of the resource, which is "new" or "replaced".
	name, because string
	// sure is set unless the resource may turn out to be the same.
	sure bool
}

// renewed returns the references of an item that lead to other resources than before, by their URNs: those to resources
// that are created or replaced, those to what a failed deployment has created or replaced already, and those to what other
// modules have replaced.
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
			if now := p.provided(target.URN()); now != nil && was[now.URN] != "" && was[now.URN] != now.ID {
				add(now.URN, "replaced", now.ID != "")
			}
		}
	}
	for target, property := range it.desired.Properties.References() {
		to, ok := p.index[target]
		if !ok || property != "" {
			continue
		}
		if now := p.items[to].old; now != nil && was[now.URN] != "" && was[now.URN] != now.ID {
			add(p.items[to].urn, "replaced", true)
		}
		if p.items[to].step == nil {
			continue
		}
		s := p.items[to].step
		isOther := s.Old == nil || s.Old != p.was(held, s.Old.URN)
		if s.Kind == Replace {
			add(s.URN, "replaced", isOther || !s.Possible)
		} else if isOther {
			add(s.URN, "new", true)
		}
	}
	return all
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

// judge sets the kind of a step by what differs.
func (p *planner) judge(step *Step, checked lumigl.Value, changes []Change, renewed map[urn.URN]renewal) {
	sureUpdate, sureReplace := false, false
	for _, c := range changes {
		// A reference to a resource that is certainly another one has certainly changed.
		because, sure := "", !c.Unknown
		for target := range at(checked, c.Path).References() {
			if to, ok := renewed[target.URN()]; ok {
				sure = sure || to.sure
				because = fmt.Sprintf("%s refers to %s, which is %s", c.Path, to.name, to.because)
			}
		}
		sureUpdate = sureUpdate || sure
		byOption := covers(step.New.Options.Get("replaceOnChanges"), c.Path)
		switch {
		case because != "":
		case !c.Replaces && byOption:
			because = c.Path + " changes, which the option replaceOnChanges lists"
		case c.Replaces && c.Unknown:
			because = c.Path + " cannot change, and is not known yet"
		case c.Replaces:
			because = c.Path + " cannot change"
		}
		if because != "" {
			step.Reasons = append(step.Reasons, because)
		}
		if c.Replaces || byOption {
			step.Replaces = append(step.Replaces, c.Path)
			sureReplace = sureReplace || sure
		}
	}
	switch {
	case len(step.Replaces) > 0 && !sureReplace && step.Old.Flag("protect"):
		step.Kind, step.Possible = Update, !sureUpdate
		step.Reasons = append(step.Reasons, "it is protected: if it has to be replaced after all, the deployment fails")
	case len(step.Replaces) > 0:
		step.Kind, step.Possible = Replace, !sureReplace
	case len(changes) > 0 || !expr.IsKnown(step.New.Inputs):
		step.Kind, step.Possible = Update, !sureUpdate
	}
}

// decideReplacement makes a step the creation of a replacement.
func (p *planner) decideReplacement(ctx context.Context, i int32, step *Step, deleteFirst bool) error {
	old, next := step.Old, step.New
	next.ID, next.Metadata = "", lumigl.Value{}
	next.Incarnation = old.Incarnation + 1
	next.Seed = p.newSeed(p.items[i].desired.URN(), next.Incarnation)
	checked, err := p.check(ctx, i, step, lumigl.Value{})
	if err != nil {
		return err
	}
	next.Checked = checked
	if p.follow(ctx, i, step, checked); next.URN != old.URN {
		next.Replaced = old.ID
	}
	name := checked.Get("name")
	switch {
	case deleteFirst:
		step.Reasons = append(step.Reasons, "resources of this type are deleted first")
	case next.Flag("deleteBeforeReplace"):
		step.Reasons = append(step.Reasons, "the option deleteBeforeReplace has it deleted first")
	case p.keepsName(&p.items[i]), p.types[next.Type()].Named && !name.IsUnknown() && name.Equal(old.Checked.Get("name")):
		step.Reasons = append(step.Reasons, "it is deleted first, since both have the same name")
	default:
		return nil
	}
	step.DeleteFirst = true
	return nil
}
