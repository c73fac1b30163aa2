package plan

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/match"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// assemble returns the plan: the steps of items, the graph transition, and the resulting deletions.
func (p *planner) assemble() (*Plan, error) {
	changes := p.changes()
	p.displace(changes)
	items := map[*Step]int32{}
	for i := range p.items {
		s := p.items[i].step
		if s == nil {
			continue
		}
		if s.IsProvisioned() {
			items[s] = int32(i)
		}
		p.setAfter(int32(i), s)
		if s.New != s.Old {
			s.New.Dependencies = p.dependenciesOf(int32(i))
		}
	}
	update, err := p.update(changes)
	if err != nil {
		return nil, err
	}
	t, err := p.Graph.Deploy(update)
	if err != nil {
		return nil, AsError(err)
	}
	for _, c := range t.Conflicts {
		p.faults[-1] = append(p.faults[-1], conflict(c, p.isAsked(c.Resource)))
	}
	p.checkReads(t.Deleted)
	plan := newPlan(ToDeploy, p.Graph, p.module.Name, t, p.Provisioner)
	plan.Deployment, plan.planner, plan.items, plan.Replace = p.Deployment, p, items, p.replaces()
	steps, faults := order(p.Graph, p.module.Name, changes, t)
	plan.Steps, plan.Moves = steps, suggest(steps)
	p.faults[-1] = slices.Concat(p.faults[-1], faults, plan.finish())
	if err := p.err(); err != nil {
		return nil, err
	}
	return plan, nil
}

// changes returns the steps of the items, which exclude deletions.
func (p *planner) changes() (changes []*Step) {
	for i := range p.items {
		if s := p.items[i].step; s != nil {
			changes = append(changes, s)
		}
	}
	if len(p.Targets) > 0 {
		changes = p.withOthers(changes)
	}
	return changes
}

// update returns the graph update that results from changes.
func (p *planner) update(changes []*Step) (graph.Update, error) {
	update := graph.Update{Became: map[*graph.Resource]*graph.Resource{}, Interrupt: p.Interrupt}
	for _, s := range changes {
		update.Removed = append(update.Removed, s.displaces...)
		switch {
		case s.Old == nil || s.Old == s.New || s.Kind == Read:
		case s.Kind != Replace:
			update.Became[s.Old] = s.New
		case s.DeleteFirst:
			update.Removed = append(update.Removed, s.Old)
		}
	}
	update.Version = p.version(changes)
	return update, p.err()
}

// setAfter adds the steps of an item's dependencies to s.After. If a dependency is deleted before it is replaced,
// replacements caused by it are also deleted first.
func (p *planner) setAfter(i int32, s *Step) {
	if s.Kind == Same {
		return
	}
	var first []string
	for _, to := range p.dependencies.Out(i) {
		before := p.items[to].step
		if before == nil || before.Kind == Same || slices.Contains(s.After, before) {
			continue
		}
		s.After = append(s.After, before)
		if s.Kind == Replace && before.Kind == Replace && before.DeleteFirst {
			first = append(first, before.URN.Name())
		}
	}
	if len(first) > 0 && !s.DeleteFirst {
		s.DeleteFirst = true
		s.Reasons = append(s.Reasons, "it is deleted first, since it depends on "+slices.Min(first))
	}
}

// version returns the new version of the module. It records a fault for each value that cannot be provided.
func (p *planner) version(changes []*Step) *graph.Version {
	resources := make([]*graph.Resource, 0, len(changes))
	for _, s := range changes {
		resources = append(resources, s.New)
	}
	if len(p.Targets) > 0 {
		resources = graph.InOrder(resources)
	}
	v := p.module.Version(p.Deployment, resources)
	for _, provided := range p.module.Provides {
		what := "provides " + provided.Name
		if provided.Name == graph.ModelName {
			what = "the saved model"
		}
		result, err := p.resolve(provided.Value)
		if err != nil {
			p.fault(-1, "%s: %v", what, err)
		}
		for target := range provided.Value.References() {
			if i, ok := p.index[target]; ok && p.items[i].step == nil {
				p.fault(-1, "%s: %s does not exist yet and is not a target", what, p.items[i].urn.Name())
			}
		}
		provided.Value, provided.Result = provided.Value.Retarget(p.final), result
		v.Provides = append(v.Provides, provided)
	}
	return v
}

// withOthers adds steps that keep resources that are neither targets nor in the program. It records a fault for each
// such resource whose dependencies change.
func (p *planner) withOthers(changes []*Step) []*Step {
	now, gone := map[urn.URN]*graph.Resource{}, map[*graph.Resource]bool{}
	for _, s := range changes {
		now[s.URN] = s.New
		if s.Old != nil {
			gone[s.Old] = s.Kind == Replace || s.was() != s.URN
		}
	}
	newest := p.Graph.Newest(p.module.Name)
	for _, v := range p.olds {
		for r := range v.Resources() {
			_, paired := gone[r]
			if !paired && now[r.URN] == nil && !slices.Contains(p.Targets, r.URN) && (v.Partial || v == newest) {
				now[r.URN], gone[r] = r, false
				changes = append(changes, &Step{URN: r.URN, Old: r, New: r})
			}
		}
	}
	for _, s := range changes {
		r := s.New
		held := slices.IndexFunc(p.olds, func(v *graph.Version) bool { return v.Holds(r) })
		if held < 0 {
			continue // already a target
		}
		for _, u := range r.Dependencies {
			if isGone, known := gone[p.was(held, u)]; isGone || !known {
				p.faults[-1] = append(p.faults[-1], Fault{URN: r.URN, Source: r.Source, Message: fmt.Sprintf(
					"it depends on %s, which would change: add %[1]s to the targets", u.Name())})
			}
		}
	}
	return changes
}

// conflict describes a change blocked by a kept version. asked is set if the request asked to replace the resource.
func conflict(c graph.Conflict, asked bool) Fault {
	what := "changed"
	if c.Deletes {
		what = "deleted"
	}
	when := "first"
	if asked { // The replacement does not exist yet.
		when = "as well"
	}
	message := fmt.Sprintf("it would be %s, but %s needs it for %s of %s: deploy %s %s, or interrupt it with --interrupt=%s",
		what, c.User.Module, c.Name, c.Version, c.User.Module, when, c.User.Module)
	return Fault{URN: c.Resource.URN, Source: c.Resource.Source, Message: message}
}

// suggest returns pairs of a deleted and a created resource with the same type and equal inputs, for which the program
// may need an alias.
func suggest(steps []*Step) []match.Pair {
	var olds, news []*lumigl.Vertex
	created := map[string]*lumigl.Vertex{}
	for _, s := range steps {
		v, err := lumigl.NewResource(s.URN)
		switch {
		case err != nil:
		case s.Kind == Create:
			v.Properties = s.New.Inputs.Retarget(func(to *lumigl.Vertex) *lumigl.Vertex { return cmp.Or(created[to.Key()], to) })
			news, created[v.Key()] = append(news, v), v
		case s.Kind == Delete && !s.Replaced:
			v.Properties = s.Old.Inputs
			olds = append(olds, v)
		}
	}
	return match.Recognize(olds, news)
}

// isAsked reports whether the request asks to replace a resource of the graph.
func (p *planner) isAsked(r *graph.Resource) bool {
	return slices.ContainsFunc(p.items, func(it item) bool { return it.old == r && p.mustReplace(&it) })
}

// replaces returns the URNs, as used in the program, of the resources that the request asks to replace.
func (p *planner) replaces() (all []urn.URN) {
	for _, u := range p.Replace {
		switch i := slices.IndexFunc(p.items, func(it item) bool { return it.isCalled(u) }); {
		case i < 0:
			p.faults[-1] = append(p.faults[-1], Fault{URN: u, Message: "cannot be replaced: it is not in the program"})
		case p.items[i].untouched:
			p.fault(int32(i), "cannot be replaced: it is not a target; add it to the targets")
		case p.items[i].isRead():
			p.fault(int32(i), "cannot be replaced: this deployment only reads it")
		default:
			all = append(all, p.items[i].desired.URN())
		}
	}
	return all
}
