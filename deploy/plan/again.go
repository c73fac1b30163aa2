package plan

import (
	"context"

	"github.com/lumi-idl/lumi/lumigl"
)

// Again decides a step again, once those that it waits for are done and recorded, so that its inputs are known. It
// returns what is left to do, which may be less than was planned, with the inputs and Checked to deploy. Steps without
// inputs to deploy, such as deletions, stay as they are. The error is an *[Error] if the step would do more than was
// planned: then the module has to be planned again.
//
// Gone is whether s.Old is deleted already, so that it has to be replaced. Steps that do not wait for each other may be
// decided concurrently.
func (p *Plan) Again(ctx context.Context, s *Step, gone bool) (*Step, error) {
	i, found := p.items[s]
	if !found {
		return s, nil
	}
	again := &Step{URN: s.URN}
	err := p.planner.decideItem(ctx, i, again)
	if err == nil && gone && again.Kind != Replace {
		next := *again.New
		next.Deployment, next.Outputs = p.Deployment, lumigl.Value{}
		again.Kind, again.New = Replace, &next
		err = p.planner.decideReplacement(ctx, i, again, false)
	}
	problem := ""
	switch {
	case err != nil:
		problem = err.Error()
	case again.isEffective():
		again.DeleteFirst = again.DeleteFirst || again.Kind == Replace && s.DeleteFirst
		if problem = again.exceeds(s); problem != "" {
			problem = "would be " + problem + ": plan again"
		}
	}
	if problem != "" {
		return nil, &Error{[]Fault{{URN: s.URN, Source: s.New.Source, Message: problem}}}
	}
	if again.New != again.Old {
		again.New.Dependencies = s.New.Dependencies
	}
	return again, nil
}

// Record tells the plan what a step has done: what [Plan.Again] returned for it, with New as it turned out. Steps that
// wait for s are decided with that.
func (p *Plan) Record(s, done *Step) {
	if i, found := p.items[s]; found {
		p.planner.items[i].step = done
	}
}
