package plan

import (
	"slices"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/lumigl"
)

// HasChanges reports whether running the plan would change anything except deployment numbers, source positions, and
// the numbers of unnamed resources. It considers resources, subsequent cleanups, dependencies, provided and used
// values, and the configuration of the program and of providers. The first deployment of a module is a change even if
// the module is empty.
func (p *Plan) HasChanges() bool {
	was, now := p.before.Newest(p.Module), p.Transition.Graph.Newest(p.Module)
	switch {
	case len(p.EffectiveSteps()) > 0 || (was == nil) != (now == nil):
		return true
	case p.Purpose != ToDeploy:
		return len(p.before.Versions(p.Module)) != len(p.Transition.Graph.Versions(p.Module))
	}
	return slices.ContainsFunc(p.Steps, func(s *Step) bool {
		if s.IsRead() { // Results matter only for what refers to them.
			return false
		}
		// A resource from a failed deployment or an older version joins the newest version.
		return !was.Holds(s.Old) || !slices.Equal(s.Old.Dependencies, s.New.Dependencies)
	}) || !was.Configuration.Equal(now.Configuration) || !was.Config.Equal(now.Config) || !slices.EqualFunc(was.Provides, now.Provides, func(a, b graph.Provided) bool {
		return a.Name == b.Name && a.Type.Form.Equal(b.Type.Form) && a.Value.Equal(b.Value) && a.Result.Equal(b.Result)
	}) || !slices.EqualFunc(was.Uses, now.Uses, func(a, b graph.Edge) bool {
		return a.To == b.To && a.Name == b.Name && a.Type.Form.Equal(b.Type.Form) && a.Where == b.Where && a.Broken == b.Broken
	})
}

// ClearsDrift reports whether a drifted resource needs no change, which is worth storing: otherwise, each plan compares it
// again.
func (p *Plan) ClearsDrift() bool {
	return slices.ContainsFunc(p.Steps, func(s *Step) bool { return s.Kind == Same && s.New != s.Old && len(s.Old.Drifted) > 0 })
}

// HasSecrets reports whether running the plan may need to seal secrets from the desired state, from other modules, or
// from properties that the types of created or changed resources declare as secret.
func (p *Plan) HasSecrets() bool {
	if p.planner == nil {
		return false // stores nothing new
	}
	desired := p.planner.Desired
	values := []lumigl.Value{desired.Args}
	for _, f := range desired.Fields {
		values = append(values, f.Value)
	}
	for v := range desired.Vertices() {
		values = append(values, v.Properties, v.Extensions)
	}
	for _, provided := range p.Transition.Graph.Newest(p.Module).Provides {
		values = append(values, provided.Result)
	}
	for _, s := range p.Steps {
		if s.New == nil {
			continue
		}
		values = append(values, s.New.Inputs, s.New.Checked, s.New.Outputs)
		if s.IsProvisioned() && len(p.planner.types[s.URN.Type()].Secrets) > 0 {
			return true
		}
	}
	return slices.ContainsFunc(values, func(v lumigl.Value) bool { return holds(v, lumigl.Value.IsSecret) })
}
