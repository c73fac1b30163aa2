package plan

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/expr"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// callID is the ID of every call. Calls have no ID of their own, but an empty one would mean that there is no result yet.
const callID = "call"

func (it *item) isCall() bool { return graph.IsCall(it.desired.Options) }

// isRead reports whether the item is a look-up or a call.
func (it *item) isRead() bool { return graph.IsRead(it.desired.Options) }

// checkUse returns an error if the program calls a resource type or uses a function as one.
func (p *planner) checkUse(it *item) error {
	t := it.desired.Type
	switch isFunction := p.types[t].Function; {
	case isFunction && !it.isCall():
		return fmt.Errorf("%s is a function, not a resource type: call it", t)
	case it.isCall() && !isFunction:
		return fmt.Errorf("%s is a resource type, not a function: create a resource, or look one up", t)
	}
	return nil
}

// decideRead returns the step of a look-up or a call. While the module is planned, it reads unless the ID or an argument is
// not known yet. During the run, it returns a step without results, which [Plan.Read] reads.
func (p *planner) decideRead(ctx context.Context, i int32) (Step, error) {
	it := &p.items[i]
	r := &graph.Resource{
		URN: it.urn, Deployment: p.Deployment, Options: it.desired.Options.Retarget(p.final), Source: it.desired.Source,
	}
	if isNumbered(it.urn.Name()) {
		r.Label = it.urn.Name()
	}
	references := p.references(i, lumigl.Value{})
	isKnown, err := p.readFrom(it, r)
	if err != nil {
		return Step{}, err
	}
	r.Referents = graph.ReferentsOf(r.Inputs, func(u urn.URN) string { return references[u].ID })
	s := Step{Kind: Read, URN: it.urn, Old: it.old, New: r}
	switch {
	case !isKnown && p.decided:
		return s, errors.New("it cannot be read: a value that it needs is still unknown")
	case !isKnown:
		r.ID = ""
	case !p.decided:
		if r.Outputs, err = p.answer(ctx, r, references); err != nil {
			return s, err
		}
		if old := it.old; old != nil && isSameRead(old, r) && old.Outputs.Equal(r.Outputs) && old.Options.Equal(r.Options) &&
			slices.Equal(old.Dependencies, p.dependenciesOf(i)) {
			s.Kind, s.New = Same, old
		}
	}
	return s, nil
}

// readFrom sets the ID, inputs, and checked properties of r. It reports whether all values needed to read r are known.
func (p *planner) readFrom(it *item, r *graph.Resource) (isKnown bool, err error) {
	if !it.isCall() {
		r.Inputs, r.Checked = lumigl.ObjectOf(), lumigl.ObjectOf()
		id, err := p.resolve(it.desired.Options.Get(graph.ReadOption))
		if err != nil || !expr.IsKnown(id) {
			return false, err
		}
		if r.ID, _ = id.Text(); r.ID == "" {
			return false, errors.New("the id to look up must be a string that is neither empty nor secret")
		}
		return true, nil
	}
	if r.Inputs, err = p.resolve(it.desired.Properties); err != nil {
		return false, err
	}
	r.ID, isKnown = callID, expr.IsKnown(r.Inputs)
	r.Inputs, _ = WrapSecrets(r.Inputs, p.types[it.desired.Type].Secrets)
	r.Checked = expr.Unknown(r.Inputs)
	for target, property := range it.desired.Properties.References() {
		if to, ok := p.index[target]; ok && property == "" { // The resource must exist.
			isKnown = isKnown && p.items[to].step != nil && p.items[to].step.New.ID != ""
		}
	}
	return isKnown, nil
}

// isSameRead reports whether two look-ups or calls have the same type, ID, and arguments.
func isSameRead(a, b *graph.Resource) bool {
	return a.Type() == b.Type() && a.ID == b.ID && a.Inputs.Equal(b.Inputs) && a.Referents.Equal(b.Referents)
}

// answer returns the results of r, for which it asks the provider unless an equal one has been made.
func (p *planner) answer(ctx context.Context, r *graph.Resource, references map[urn.URN]Reference) (lumigl.Value, error) {
	a := p.shared(r)
	select {
	case a.busy <- struct{}{}:
	case <-ctx.Done():
		return lumigl.Value{}, context.Cause(ctx)
	}
	defer func() { <-a.busy }()
	if a.results.Exists() {
		return a.results, nil
	}
	results, err := p.request(ctx, r, references)
	if err == nil {
		a.results, _ = WrapSecrets(results, p.types[r.Type()].Secrets)
	}
	return a.results, err
}

// shared returns the answer of all look-ups or calls that are equal to r.
func (p *planner) shared(r *graph.Resource) *answer {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.answers == nil {
		p.answers, p.hasher.Work = map[uint64][]*answer{}, math.MaxInt64
		for _, v := range p.olds {
			if v.Partial && v.Deployment == p.Deployment { // A retry uses what the failed attempt has read.
				p.remember(slices.Collect(v.Resources()))
			}
		}
		p.remember(p.Reads)
	}
	key := p.answerKey(r)
	i := slices.IndexFunc(p.answers[key], func(a *answer) bool { return isSameRead(a.of, r) })
	if i < 0 {
		i = len(p.answers[key])
		p.answers[key] = append(p.answers[key], newAnswer(r))
	}
	return p.answers[key][i]
}

// answerKey returns a key that is the same for equal look-ups and calls.
func (p *planner) answerKey(r *graph.Resource) uint64 {
	return p.hasher.Member(string(r.Type())+" "+r.ID, r.Inputs)
}

func newAnswer(r *graph.Resource) *answer { return &answer{of: r, busy: make(chan struct{}, 1)} }

// remember adds the results of earlier look-ups and calls among resources.
func (p *planner) remember(resources []*graph.Resource) {
	for _, r := range resources {
		if r.IsRead() && r.Outputs.Exists() && expr.IsKnown(r.Outputs) {
			key, a := p.answerKey(r), newAnswer(r)
			a.results = r.Outputs
			p.answers[key] = append(p.answers[key], a)
		}
	}
}

// request asks the provider for the results of r.
func (p *planner) request(ctx context.Context, r *graph.Resource, references map[urn.URN]Reference) (lumigl.Value, error) {
	if r.Flag(graph.CallOption) {
		results, err := p.Provider.Call(ctx, Desired{URN: r.URN, Properties: r.Checked, References: references})
		if err != nil {
			return results, fmt.Errorf("%s: %w", r.Type().Name(), err)
		}
		return lumigl.Merged(lumigl.ObjectOf(), results), nil
	}
	inputs, outputs, err := p.Provider.Get(ctx, Existing{URN: r.URN, ID: r.ID, References: references, Graph: p.Graph})
	switch {
	case errors.As(err, new(*NotFoundError)):
		return outputs, fmt.Errorf("%s %q does not exist: correct the id, or create the resource first", r.Type().Name(), r.ID)
	case err != nil:
		return outputs, fmt.Errorf("cannot look up %q: %w", r.ID, err)
	}
	return lumigl.Merged(lumigl.ObjectOf(), lumigl.Merged(inputs, outputs)), nil
}

// Read returns a look-up or a call returned by [Plan.Again] with its results.
func (p *Plan) Read(ctx context.Context, r *graph.Resource, references map[urn.URN]Reference) (*graph.Resource, error) {
	results, err := p.planner.answer(ctx, r, references)
	if err != nil {
		return nil, err
	}
	read := *r
	read.Outputs = results
	return &read, nil
}

// IsRead reports whether the step is about a look-up or a call, even if its results have not changed.
func (s *Step) IsRead() bool { return s.New != nil && s.New.IsRead() }

// Waits reports whether a look-up or a call is made during the run, since a value that it needs is not known yet.
func (s *Step) Waits() bool { return s.Kind == Read && !s.New.Outputs.Exists() }

// Reads returns the results of look-ups and calls that [Plan.Effects] recorded.
func Reads(effects []Effect) (all []*graph.Resource) {
	for _, e := range effects {
		if e.Kind == Read {
			r := &graph.Resource{URN: e.URN, ID: e.ID, Inputs: e.Inputs, Outputs: e.Results, Referents: e.Referents}
			r.Options = lumigl.ObjectOf(lumigl.Member{Key: graph.ReadOption, Value: lumigl.TextOf(e.ID)})
			all = append(all, r)
		}
	}
	return all
}

// checkReads records a fault for each look-up of a resource that the deployment deletes.
func (p *planner) checkReads(deleted []*graph.Resource) {
	for _, r := range deleted {
		for i := range int32(len(p.items)) {
			s := p.items[i].step
			if s != nil && s.IsRead() && s.New.ID == r.ID && s.New.Type() == r.Type() && removal(r).Kind == Delete {
				p.fault(i, `this deployment would delete what it looks up: keep the resource %s, or first deploy it with the option "retainOnDelete"`,
					r.URN.Name())
			}
		}
	}
}
