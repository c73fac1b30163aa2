package plan

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/internal/dag"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/diff"
	"github.com/lumi-idl/lumi/lumigl/expr"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// decide gives every item its step. The provider is asked only about suspects: items that differ, and those that refer to
// what is created, replaced or updated.
func (p *planner) decide(ctx context.Context) error {
	for i := range p.items {
		it := &p.items[i]
		if it.old != nil && it.old.URN != it.urn {
			p.moves[it.old.URN] = it.reference
		}
	}
	p.holders = make(map[urn.URN]int32, len(p.items))
	for i := range p.items {
		p.holders[p.items[i].urn] = int32(i)
	}
	steps := make([]Step, len(p.items)) // together, since there are many
	suspects, among := p.mayDiffer(steps)
	var types []tokens.Type
	for _, i := range suspects {
		types = append(types, p.items[i].desired.Type)
	}
	if err := p.describe(ctx, types); err != nil {
		return err
	}
	p.seed()
	decide := func(parallelism int) {
		_ = among.Walk(ctx, dag.WalkOptions{Parallelism: parallelism}, func(ctx context.Context, n int32) error {
			i := suspects[n]
			steps[i] = Step{URN: p.items[i].urn}
			if err := p.decideItem(ctx, i, &steps[i]); err != nil {
				p.fault(i, "%v", err)
				return err // so that what refers to it is left out
			}
			p.items[i].step = &steps[i]
			return nil
		})
	}
	undo := p.checkpoint()
	decide(p.Parallelism)
	if p.clashed { // Who gets a name must not depend on who asks first.
		undo()
		decide(1)
	}
	p.decided = true
	if err := context.Cause(ctx); err != nil {
		return err
	}
	p.checkNames()
	return p.wrong()
}

// mayDiffer returns the items that may not be the same, and the references among them. The others get their steps.
func (p *planner) mayDiffer(steps []Step) (mayDiffer []int32, among dag.Graph) {
	number := make([]int32, len(p.items)) // among the suspects, from 1
	for i := range p.items {
		it := &p.items[i]
		it.ignoreChanges()
		isSuspect := !it.untouched && (!p.isSame(int32(i)) || p.mustReplace(it))
		for _, to := range p.dependencies.Out(int32(i)) {
			isSuspect = isSuspect || number[to] > 0
		}
		switch {
		case it.untouched && it.old == nil:
		case it.untouched || !isSuspect:
			it.step = &steps[i]
			*it.step = Step{URN: it.old.URN, Old: it.old, New: it.old}
		default:
			mayDiffer = append(mayDiffer, int32(i))
			number[i] = int32(len(mayDiffer))
		}
	}
	mayDiffer = p.sorted(mayDiffer)
	for n, i := range mayDiffer {
		number[i] = int32(n + 1)
	}
	for _, i := range mayDiffer {
		for _, to := range p.dependencies.Out(i) {
			if number[to] > 0 {
				among.To = append(among.To, number[to]-1)
			}
		}
		among.End()
	}
	return mayDiffer, among
}

// isSame reports whether nothing about the item itself differs.
func (p *planner) isSame(i int32) bool {
	it := &p.items[i]
	return it.old != nil && !it.hasFiles && it.urn == it.old.URN && !it.isAstray() && it.desired.URN() == it.old.InProgram() &&
		it.inputs.Equal(it.old.Inputs) && it.options.Equal(it.old.Options) &&
		slices.Equal(p.dependenciesOf(i), it.old.Dependencies) && len(p.renewed(i)) == 0
}

// ignoreChanges takes the properties whose changes are ignored from the graph.
func (it *item) ignoreChanges() {
	paths := it.desired.Options.Get("ignoreChanges")
	if it.old != nil && it.old.Inputs.Exists() && paths.Exists() { // What was made in part has no inputs.
		it.inputs = ignore(it.inputs, it.old.Inputs, paths)
	}
}

// checkIgnored returns an error if the inputs keep a reference to a resource that the program does not refer to any more:
// it might go.
func (p *planner) checkIgnored(i int32) error {
	it := &p.items[i]
	if !it.desired.Options.Get("ignoreChanges").Exists() {
		return nil
	}
	on := p.dependenciesOf(i)
	for target := range it.inputs.References() {
		if u := target.URN(); u.Type() != lumigl.ModuleType && !slices.Contains(on, u) {
			return fmt.Errorf(`the option "ignoreChanges" keeps a reference to %s: add that to "dependsOn", or remove the option`, u.Name())
		}
	}
	return nil
}

// decideItem fills in the step of an item whose dependencies have theirs.
func (p *planner) decideItem(ctx context.Context, i int32, step *Step) error {
	it := &p.items[i]
	step.Old = it.old
	var err error
	if it.inputs, err = p.resolve(it.desired.Properties); err != nil {
		return err
	}
	it.inputs, _ = WrapSecrets(it.inputs, p.types[it.desired.Type].Secrets)
	it.ignoreChanges()
	if err := p.checkIgnored(i); err != nil {
		return err
	}
	it.options = it.desired.Options.Retarget(p.final)
	next := &graph.Resource{
		URN: it.urn, Deployment: p.Deployment, Inputs: it.inputs, Options: it.options, Source: it.desired.Source, Seed: p.newSeed(it.desired.URN(), 0),
	}
	step.New = next
	if isNumbered(it.desired.URN().Name()) {
		next.Label, next.Computed = it.desired.URN().Name(), it.computed
	}
	if it.old == nil {
		return p.decideNew(ctx, i, step)
	}
	next.ID, next.Incarnation, next.Seed = it.old.ID, it.old.Incarnation, it.old.Seed
	next.Replaced = it.old.Replaced
	next.Plugin, next.Provisioner, next.Metadata = it.old.Plugin, it.old.Provisioner, it.old.Metadata
	return p.decideExisting(ctx, i, step)
}

// decideNew decides about an item that is not in the graph.
func (p *planner) decideNew(ctx context.Context, i int32, step *Step) error {
	it := &p.items[i]
	checked, err := p.check(ctx, i, step, lumigl.Value{})
	if err != nil {
		return err
	}
	step.New.Checked, step.Kind = checked, Create
	if id, ok := it.options.Get("import").Text(); ok {
		step.Kind, step.New.ID = Import, id
	}
	if !isNumbered(it.urn.Name()) {
		return p.inspectImport(ctx, i, step)
	}
	name, err := p.Provider.Name(ctx, Desired{URN: it.urn, Properties: checked, References: p.references(i, lumigl.Value{})})
	if err != nil {
		return err
	}
	if err := urn.CheckName(name); err != nil {
		return fmt.Errorf("the provider chose an invalid name: %w", err)
	}
	if step.Kind == Create {
		prefix, _ := it.split(it.urn)
		u := renamed(it.urn, prefix+name)
		if old := p.takeOver(i, u); old != nil {
			it.old, it.sameName, it.computed = old, true, old.Computed
			it.name(u)
			return p.decideItem(ctx, i, step)
		}
	}
	p.rename(i, step, name)
	return p.inspectImport(ctx, i, step)
}

// inspectImport reads the resource that a step imports. It must be as the program has it, as far as it can be read and is known.
func (p *planner) inspectImport(ctx context.Context, i int32, step *Step) error {
	if step.Kind != Import {
		return nil
	}
	r, references := step.New, p.references(i, lumigl.Value{})
	inputs, outputs, err := p.Provider.Get(ctx, Existing{URN: r.URN, ID: r.ID, References: references})
	if err != nil {
		return fmt.Errorf("cannot import %q: %w", r.ID, err)
	}
	d, err := p.Provider.InspectChange(ctx, InspectChangeRequest{
		Desired: Desired{URN: r.URN, Properties: r.Checked, References: references}, ID: r.ID, Old: inputs,
	})
	if err != nil {
		return err
	}
	var differs []string
	for _, change := range d.Changes {
		parts := wire.PathParts(change.Path)
		if change.Unknown || len(parts) == 0 {
			continue
		}
		if name, _ := keyOrIndex(parts[0]); inputs.Get(name).Exists() {
			differs = append(differs, name)
		}
	}
	if len(differs) > 0 {
		return fmt.Errorf("%q differs from the program: change the program to what exists, and update the resource later\n%s",
			r.ID, p.differences(r, inputs, differs))
	}
	r.Outputs = outputs
	return nil
}

// differences returns how some properties of a resource that exists differ from the program, as text without secrets.
func (p *planner) differences(r *graph.Resource, exists lumigl.Value, names []string) string {
	of := func(properties lumigl.Value) *lumigl.Vertex {
		v := &lumigl.Vertex{Type: r.Type(), Properties: identity(properties, names)}
		v.Properties, _ = WrapSecrets(v.Properties, p.types[r.Type()].Secrets)
		return v
	}
	var text strings.Builder
	_ = diff.CompareResource(of(exists), of(r.Checked), nil).WriteText(&text, 1, diff.TextOptions{}) // A builder takes everything.
	return strings.TrimRight(text.String(), "\n")
}

// takeOver returns the resource with a URN that a provider chose if it would go otherwise. It is taken for the same one,
// since the provider might take it for that.
func (p *planner) takeOver(i int32, u urn.URN) *graph.Resource {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	old := p.oldOf(u)
	for _, former := range slices.Sorted(maps.Keys(p.formerTypes)) {
		if p.formerTypes[former] == u.Type() && !p.free.left[old] {
			old = p.oldOf(retyped(u, former))
		}
	}
	if by, taken := p.holders[u]; !p.free.left[old] || taken && by != i {
		return nil
	}
	delete(p.free.left, old)
	p.holders[u] = i
	return old
}

// check asks the provider about the properties in a step, as far as they are known.
func (p *planner) check(ctx context.Context, i int32, step *Step, old lumigl.Value) (lumigl.Value, error) {
	properties := expr.Unknown(step.New.Inputs)
	return p.Provider.Check(ctx, CheckRequest{
		Desired: Desired{URN: step.New.URN, Properties: properties, References: p.references(i, lumigl.Value{})},
		Old:     old, Seed: step.New.Seed,
	})
}

// decideExisting decides about an item that is in the graph.
func (p *planner) decideExisting(ctx context.Context, i int32, step *Step) error {
	it, next := &p.items[i], step.New
	if it.isAstray() {
		p.rename(i, step, it.computed)
	}
	old := p.moved(it.old)
	if step.Kind = Same; old.URN != next.URN {
		step.Kind = Move
	}
	id, isImported := it.options.Get("import").Text()
	renewed, asked := p.renewed(i), p.mustReplace(it)
	isSame := len(renewed) == 0 && !asked
	mustTell := step.Kind == Move && old.Provisioner != "" // whose tool may know the resource by its URN
	switch {
	case isImported && id != old.ID:
		return fmt.Errorf("it should be imported as %q, but it exists as %q: remove the option \"import\", or choose another name", id, old.ID)
	case isSame && p.isSame(i):
		step.New = it.old
		return nil
	case isSame && next.Inputs.Equal(old.Inputs) && !it.hasFiles && !mustTell:
		next.Deployment, next.Checked, next.Outputs, next.Referents = old.Deployment, old.Checked, old.Outputs, old.Referents
		if !old.Checked.Equal(it.old.Checked) { // The name may be made of one that moved.
			next.Computed = ""
		}
		return nil
	case old.ID == "" || !expr.IsKnown(old.Inputs) || !expr.IsKnown(old.Outputs):
		step.Kind, step.Possible, step.NotCompared = Update, true, hasUnreadableSecrets(old.Inputs)
		if !step.NotCompared {
			step.Reasons = append(step.Reasons, "an earlier deployment has yet to create or change it")
		}
		next.Checked = expr.Unknown(next.Inputs)
		next.Outputs, next.Metadata = p.unknownOutputs(next), lumigl.Value{}
		if asked {
			step.replaceAsked()
			return p.decideReplacement(ctx, i, step, false)
		}
		if checked, err := p.check(ctx, i, step, old.Checked); err == nil {
			p.follow(ctx, i, step, checked)
		}
		return nil
	}
	checked, err := p.check(ctx, i, step, old.Checked)
	if err != nil {
		return err
	}
	// A reference to another resource of the same URN looks the same, so it counts as unknown.
	desired := checked.Replace(func(part lumigl.Value) (lumigl.Value, bool) {
		target, _, ok := part.Target()
		if !ok {
			return lumigl.Value{}, false
		}
		_, isRenewed := renewed[target.URN()]
		return lumigl.TextOf(wire.Unknown), isRenewed
	})
	d, err := p.Provider.InspectChange(ctx, InspectChangeRequest{
		Desired: Desired{URN: next.URN, Properties: desired, References: p.references(i, old.Checked)},
		ID:      old.ID, Old: old.Before(checked),
	})
	if err != nil {
		return err
	}
	next.Checked = checked
	if d.Properties.Exists() {
		next.Checked = d.Properties.Map(func(_ int, name string, part lumigl.Value) (lumigl.Value, bool) {
			return checked.Get(name), !expr.IsKnown(part) // with references that were hidden
		})
	}
	if p.judge(step, checked, d.Changes, renewed); asked {
		step.replaceAsked()
	}
	if step.Kind == Replace {
		return p.decideReplacement(ctx, i, step, d.DeleteFirst)
	}
	if it.computed == "" || !next.Checked.Equal(it.old.Checked) {
		p.follow(ctx, i, step, next.Checked)
	}
	switch step.Kind {
	case Update:
		next.Outputs, next.Metadata = p.unknownOutputs(next), lumigl.Value{}
	default:
		next.Deployment, next.Outputs = old.Deployment, old.Outputs
		refers := p.references(i, lumigl.Value{})
		next.Referents = graph.ReferentsOf(checked, func(u urn.URN) string { return refers[u].ID })
	}
	return nil
}

// hasUnreadableSecrets reports whether stored inputs have secrets that cannot be read without the key, which are unknown. Inputs that
// another plan expects have references instead.
func hasUnreadableSecrets(inputs lumigl.Value) bool { return holds(inputs, lumigl.Value.IsUnknown) }

// moved returns a resource with references to resources that moved leading to where they are now, since that is no change.
func (p *planner) moved(old *graph.Resource) *graph.Resource {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if len(p.moves) == 0 {
		return old
	}
	return old.Retarget(func(target *lumigl.Vertex) *lumigl.Vertex { return cmp.Or(p.moves[target.URN()], target) })
}

// unknownOutputs returns the outputs of a resource that is changed.
func (p *planner) unknownOutputs(r *graph.Resource) lumigl.Value {
	var all lumigl.ObjectBuilder
	for _, name := range p.types[r.Type()].Outputs {
		all.Set(name, lumigl.TextOf(wire.Unknown))
	}
	for name := range r.Metadata.Members() {
		all.Set(name, lumigl.TextOf(wire.Unknown))
	}
	return all.Object()
}
