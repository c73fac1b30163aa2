package plan

import (
	"fmt"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

// MakeCleanup plans the cleanup of a module. Protected resources are forgotten instead of deleted.
func MakeCleanup(g *graph.Graph, module string, provisioner func(tokens.Type) string) *Plan {
	p := newPlan(ToCleanUp, g, module, g.Cleanup(module), provisioner)
	p.Steps, _ = order(g, module, nil, p.Transition)
	for _, s := range p.Steps {
		s.forgetProtected()
	}
	p.finish()
	return p
}

// MakeDestroy plans the removal of a module. It returns an *[Error] if the module cannot be removed.
func MakeDestroy(g *graph.Graph, module string, provisioner func(tokens.Type) string) (*Plan, error) {
	t, err := g.Destroy(module)
	if err != nil {
		return nil, AsError(err)
	}
	p := newPlan(ToDestroy, g, module, t, provisioner)
	steps, faults := order(g, module, nil, t)
	p.Steps = steps
	if faults = append(faults, p.finish()...); len(faults) > 0 {
		return nil, &Error{faults}
	}
	return p, nil
}

func newPlan(purpose Purpose, before *graph.Graph, module string, t *graph.Transition, provisioner func(tokens.Type) string) *Plan {
	return &Plan{
		Purpose: purpose, Environment: before.Environment, Module: module, Transition: t, before: before, provisioner: provisioner,
	}
}

// finish sets Tasks, Cleanups, and Digest based on the steps and the transition. It returns a fault for each protected
// resource that a cleanup would delete.
func (p *Plan) finish() []Fault {
	p.group()
	p.Cleanups = cleanups(p.Transition)
	p.Digest = digest(p)
	var faults []Fault
	for _, c := range p.Cleanups {
		for _, r := range c.Deleted {
			if removal(r).isForbidden() {
				faults = append(faults, Fault{URN: r.URN, Source: r.Source, Message: fmt.Sprintf(
					`protected: the cleanup of %s would delete it; remove the option "protect" and deploy, or keep the resource`, c.Module)})
			}
		}
	}
	return faults
}

// cleanups returns the cleanups caused by a transition, directly or through other cleanups, in order.
func cleanups(t *graph.Transition) []Cleanup {
	var all []Cleanup
	for len(t.Cleanups) > 0 {
		c := Cleanup{Module: t.Cleanups[0]}
		next := t.Graph.Cleanup(c.Module)
		c.Deleted = next.Deleted
		for _, v := range t.Graph.Versions(c.Module) {
			if next.Graph.Version(v.VersionID) == nil {
				c.Versions = append(c.Versions, v.VersionID)
			}
		}
		all = append(all, c)
		t = next
	}
	return all
}
