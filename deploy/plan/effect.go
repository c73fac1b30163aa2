package plan

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Effect is what a step of a plan that was shown does, as far as people have to agree to it.
type Effect struct {
	Kind Kind
	// URN is that of the resource afterward, and Was that before, or "" for a new one.
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

// effects returns what a plan does, the deletions of the cleanups that follow included. A deletion of the plan and that of
// a cleanup are the same.
func (p *Plan) effects() []*Step {
	all := slices.DeleteFunc(slices.Clone(p.Steps), func(s *Step) bool { return !s.isEffective() })
	for _, c := range p.Cleanups {
		all = append(all, c.Steps()...)
	}
	return all
}

// abridged returns a value with the hashes of long texts in place of these.
func abridged(v lumigl.Value) lumigl.Value {
	return v.Replace(func(part lumigl.Value) (lumigl.Value, bool) {
		text, _ := part.Text()
		if len(text) <= 1024 {
			return part, false
		}
		return lumigl.TextOf(fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text)))), true
	})
}

// Steps returns the deletions of the cleanup as [MakeCleanup] will plan them, in no order.
func (c Cleanup) Steps() []*Step {
	all := make([]*Step, len(c.Deleted))
	for i, r := range c.Deleted {
		all[i] = removal(r)
		all[i].spare()
	}
	return all
}
