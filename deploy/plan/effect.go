package plan

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Effect is the part of a step that requires approval.
type Effect struct {
	Kind Kind
	// URN is the resource's URN after the step. Was is its URN before the step, or "" for a new resource.
	URN, Was urn.URN
	// Label is the resource's label: a number such as "#1" if the provider chose the name.
	Label string
	// Possible and DeleteFirst are copied from the step.
	Possible, DeleteFirst bool
	// Incarnation is that of the resource after the step.
	Incarnation int
	// Drift holds the actual properties that were changed outside Lumi, by changed path. It is absent if there are none.
	Drift lumigl.Value
	// Inputs holds the resource's inputs, with long texts replaced by their hashes. It is absent for a deletion.
	Inputs lumigl.Value
	// ID, Results, and Referents describe a look-up or a call, whose Inputs are complete, for [Reads].
	ID                 string
	Results, Referents lumigl.Value
}

// Effects returns the effects of the plan, including deletions by subsequent cleanups, and the look-ups and calls that were
// made. These have no effect, but their results are needed to plan the deployment again.
func (p *Plan) Effects() []Effect {
	steps := p.EffectiveSteps()
	all := make([]Effect, len(steps))
	for i, s := range steps {
		all[i] = s.effect()
	}
	for _, s := range p.Steps {
		if r := s.New; s.IsRead() && !s.Waits() {
			all = append(all, Effect{Kind: Read, URN: r.URN, ID: r.ID, Inputs: r.Inputs, Results: r.Outputs, Referents: r.Referents})
		}
	}
	return all
}

func (s *Step) effect() Effect {
	e := Effect{Kind: s.Kind, URN: s.URN, Was: s.was(), Possible: s.Possible, DeleteFirst: s.DeleteFirst, Drift: abridged(s.drift())}
	if s.New != nil {
		e.Inputs, e.Label, e.Incarnation = abridged(s.New.Inputs), s.New.Label, s.New.Incarnation
	}
	return e
}

// inProgram returns the URN that the resource has in the program.
func (e *Effect) inProgram() urn.URN {
	if e.Label == "" {
		return e.URN
	}
	return renamed(e.URN, e.Label)
}

// Incarnations returns the incarnations of replaced resources after a plan, by their URNs in the program.
func Incarnations(effects []Effect) map[urn.URN]int {
	all := map[urn.URN]int{}
	for _, e := range effects {
		if e.Incarnation > 0 {
			all[e.inProgram()] = e.Incarnation
		}
	}
	return all
}

// EffectiveSteps returns the effective steps of a plan, including deletions by subsequent cleanups.
func (p *Plan) EffectiveSteps() []*Step {
	all := slices.DeleteFunc(slices.Clone(p.Steps), func(s *Step) bool { return !s.IsEffective() })
	for _, c := range p.Cleanups {
		all = append(all, c.Steps()...)
	}
	return all
}

// abridged returns a value in which texts longer than 1,024 bytes are replaced by their SHA-256 hashes.
func abridged(v lumigl.Value) lumigl.Value {
	return v.Replace(func(part lumigl.Value) (lumigl.Value, bool) {
		text, _ := part.Text()
		if len(text) <= 1024 {
			return part, false
		}
		return lumigl.TextOf(fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text)))), true
	})
}

// Steps returns the deletions that [MakeCleanup] would plan for the cleanup, in no particular order.
func (c Cleanup) Steps() []*Step {
	all := make([]*Step, len(c.Deleted))
	for i, r := range c.Deleted {
		all[i] = removal(r)
		all[i].forgetProtected()
	}
	return all
}
