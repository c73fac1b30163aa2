package plan

import (
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Effect is what a step of a plan that was shown does, as far as people have to agree to it.
type Effect struct {
	Kind Kind
	// URN is that of the resource afterwards, and Was that before, or "" for a new one.
	URN, Was urn.URN
	// Label is that of the resource in the program: a number where the provider chose the name.
	Label string
	// Possible and DeleteFirst are those of the step.
	Possible, DeleteFirst bool
	// Inputs are those of the resource, absent for a deletion.
	Inputs lumigl.Value
}

// Effects returns what the plan does, the deletions of the cleanups that follow included.
func (p *Plan) Effects() []Effect {
	steps := p.effects()
	all := make([]Effect, len(steps))
	for i, s := range steps {
		all[i] = s.effect()
	}
	return all
}

func (s *Step) effect() Effect {
	e := Effect{Kind: s.Kind, URN: s.URN, Was: s.was(), Possible: s.Possible, DeleteFirst: s.DeleteFirst}
	if s.New != nil {
		e.Inputs, e.Label = abridged(s.New.Inputs), s.New.Label
	}
	return e
}
