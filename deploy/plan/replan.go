package plan

import (
	"context"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/expr"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Again decides a step again once the steps it waits for are recorded, so that its inputs are known. It returns the
// remaining work, which may be less than planned, with the Inputs and Checked to deploy. Steps that deploy no inputs,
// such as deletions, are returned unchanged. Again returns an *[Error] if the step would do more than planned, in which
// case the module must be planned again.
//
// gone is set if s.Old was already deleted and must be replaced. Again may be called concurrently for steps that do not
// wait for each other.
func (p *Plan) Again(ctx context.Context, s *Step, gone bool) (*Step, error) {
	i, found := p.items[s]
	if !found || s.Kind == Read && !s.Waits() || len(s.After) == 0 && s.Kind != Import && !s.Waits() && !gone && !s.Possible && expr.IsKnown(s.New.Inputs) {
		return s, nil // no new information
	}
	again, err := p.planner.decideItem(ctx, i, gone)
	problem := ""
	switch {
	case err != nil:
		problem = err.Error()
	case again.IsEffective():
		again.DeleteFirst = again.DeleteFirst || again.Kind == Replace && s.DeleteFirst
		if problem = again.effect().exceeds(new(s.effect())); problem != "" {
			problem = "would be " + problem + ": plan again"
		}
	}
	if problem != "" {
		return nil, &Error{[]Fault{{URN: s.URN, Source: s.New.Source, Message: problem}}}
	}
	again.displaces = s.displaces
	if again.New != again.Old {
		again.New.Dependencies = s.New.Dependencies
	}
	return &again, nil
}

// Record records done, the result of step s, for decisions about the steps that wait for s. done is the step returned
// by [Plan.Again] with New set to the actual resource.
func (p *Plan) Record(s, done *Step) {
	if i, found := p.items[s]; found {
		p.planner.items[i].step = done
	}
}

// References returns the resources referenced in a step's old and new properties, to be sent to the provider. The steps
// that s waits for must be recorded.
func (p *Plan) References(s *Step) map[urn.URN]Reference {
	if i, found := p.items[s]; found {
		var old lumigl.Value
		if s.Old != nil {
			old = s.Old.Checked
		}
		return p.planner.references(i, old)
	}
	return ReferencesOf(p.before, s.Old)
}

// Commit returns the transition of the resource graph with the recorded results of steps. now is the current graph,
// which may differ from the planned one only in other modules. Commit returns an *[Error] if a value that was unknown
// when planned does not satisfy another module.
func (p *Plan) Commit(now *graph.Graph) (*graph.Transition, error) {
	switch p.Purpose {
	case ToCleanUp:
		return now.Cleanup(p.Module), nil
	case ToDestroy:
		t, err := now.Destroy(p.Module)
		return t, AsError(err)
	}
	update, err := p.planner.update(p.planner.changes())
	if err != nil {
		return nil, err
	}
	if now != p.before {
		update = update.Rebase(p.before, now)
	}
	t, err := now.Deploy(update)
	if err != nil {
		return nil, AsError(err)
	}
	var faults []Fault
	for _, c := range t.Conflicts {
		faults = append(faults, conflict(c, false))
	}
	if len(faults) > 0 {
		return nil, &Error{faults}
	}
	return t, nil
}

// Outcomes maps the plan's expected resources to the recorded ones.
func (p *Plan) Outcomes() map[*graph.Resource]*graph.Resource {
	all := make(map[*graph.Resource]*graph.Resource, len(p.items))
	for s, i := range p.items {
		all[s.New] = p.planner.items[i].step.New
	}
	return all
}

// IsFor reports whether the plan is valid for the given graph and deployment number.
func (p *Plan) IsFor(g *graph.Graph, d graph.Deployment) bool {
	return p.before == g && (p.Deployment == d || p.Purpose != ToDeploy)
}
