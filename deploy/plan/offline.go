package plan

import (
	"cmp"
	"context"
	"slices"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/diff"
	"github.com/lumi-idl/lumi/lumigl/expr"
	"github.com/lumi-idl/lumi/lumigl/match"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// Compare plans the desired state without a provider and returns its differences from a snapshot of the state. It
// ignores options and data found only in the state: IDs, extensions, outputs, file hashes, and resources of other
// modules. Values in the delta are evaluated as far as possible and are only meant for display.
//
// Both snapshots must be valid and must not be modified while the delta is in use. Compare returns an *[Error] if the
// desired state spans multiple modules or contains an expression that cannot be evaluated.
func Compare(state, desired *lumigl.Snapshot, types Types) (*diff.Delta, error) {
	wanted := plain(desired)
	o := &offline{Types: types, state: plain(state), wanted: wanted, read: map[string][]string{}}
	var modules []string
	for r := range wanted.Vertices() {
		if !graph.IsRead(r.Options) {
			r.Options = lumigl.Value{}
		}
		if r.Type == lumigl.ModuleType {
			modules = append(modules, r.Key())
		}
		o.keepName(r)
		for target, name := range r.References() {
			o.read[target.Key()] = append(o.read[target.Key()], name)
		}
	}
	wanted.Remove(modules...)
	first := urn.Parts{Environment: "none", Package: "none"} // default if there is nothing to compare
	if all := slices.AppendSeq(slices.Collect(wanted.Vertices()), o.state.Vertices()); len(all) > 0 {
		first, _ = all[0].URN().Parts()
	}
	o.environment, wanted.Package = first.Environment, cmp.Or(wanted.Package, first.Package)
	module, err := graph.ModuleOf(wanted, o.environment)
	if err != nil {
		return nil, AsError(err)
	}
	o.module = module.Name
	before, err := o.graph()
	if err != nil {
		return nil, err
	}
	p, err := Make(context.Background(), Request{
		Graph: before, Desired: wanted, Provider: o, Deployment: 2, Provisioner: func(tokens.Type) string { return "" },
	})
	if err != nil {
		return nil, err
	}
	return o.compare(desired, p)
}

// offline is a [Provider] that knows only the state and the flags in Types.
type offline struct {
	Types
	state, wanted       *lumigl.Snapshot
	environment, module string
	// read holds the names of the properties that the desired state references, by resource.
	read map[string][]string
}

// keepName gives a desired resource the name it has in the state if that may be the unique name that it asks for or got by
// default: the state does not contain seeds.
func (o *offline) keepName(r *lumigl.Vertex) {
	was, name := o.state.Vertex(r.Key()), r.Properties.Get(nameProperty)
	if was == nil {
		return
	}
	if text, _ := name.Text(); graph.IsDefaultName(name, r.URN()) {
		name = expr.UniqueName(text)
	}
	stored := was.Properties.Get(nameProperty)
	base, length, isUnique := expr.Unique(name)
	if text, _ := stored.Text(); isUnique && isUniqueName(text, base, length) {
		r.Properties = r.Properties.With(nameProperty, stored)
	}
}

// plain returns a copy of a snapshot whose properties have the form used in programs.
func plain(s *lumigl.Snapshot) *lumigl.Snapshot {
	s = s.Clone()
	for r := range s.Vertices() {
		if r.Type != lumigl.ModuleType {
			var properties lumigl.ObjectBuilder // for an empty object instead of an absent one
			properties.SetAll(plainValue(r.Properties))
			r.Properties = properties.Object()
		}
	}
	return s
}

// plainValue returns a value without file hashes and without nulls, which are equivalent to absent values.
func plainValue(v lumigl.Value) lumigl.Value {
	return v.Replace(func(part lumigl.Value) (lumigl.Value, bool) {
		if part.IsFile() && part.Get("hash").Exists() {
			return plainValue(part.With("hash", lumigl.Value{})), true
		}
		content, isSecret := part.Secret()
		return lumigl.Value{}, part.Kind() == lumigl.Null || isSecret && content.Kind() == lumigl.Null
	})
}

// graph returns a resource graph of the module in the state, with evaluated properties.
func (o *offline) graph() (*graph.Graph, error) {
	var resources []*graph.Resource
	made := map[*lumigl.Vertex]*graph.Resource{}
	output := func(target *lumigl.Vertex, name string) (lumigl.Value, bool) {
		if made[target] == nil {
			return lumigl.Value{}, false
		}
		v, known := made[target].Output(name)
		return v, known && v.Exists()
	}
	for _, r := range match.Sorted(slices.Collect(o.state.Vertices())) {
		parts, _ := r.URN().Parts()
		if r.Type == lumigl.ModuleType || parts.Environment != o.environment || parts.Package != o.module {
			continue
		}
		if evaluated, err := expr.Evaluate(r.Properties, output); err == nil {
			r.Properties = plainValue(evaluated)
		}
		var inputs, checked lumigl.ObjectBuilder
		inputs.SetAll(Known(expr.Unknown(r.Properties)))
		for _, name := range o.Outputs[r.Type] {
			inputs.Set(name, lumigl.Value{})
		}
		for _, name := range o.Computed[r.Type] {
			if !o.sets(r, name) {
				inputs.Set(name, lumigl.Value{})
			}
		}
		for _, name := range o.read[r.Key()] {
			checked.Set(name, lumigl.TextOf(wire.Unknown)) // default if the state lacks it
		}
		checked.SetAll(expr.Unknown(r.Properties))
		made[r] = &graph.Resource{
			URN: r.URN(), Deployment: 1, ID: cmp.Or(r.ID, wire.Unknown), Inputs: inputs.Object(), Checked: checked.Object(),
		}
		if isNumbered(r.URN().Name()) {
			made[r].Label = r.URN().Name()
		}
		if graph.IsRead(r.Options) {
			made[r].Options = r.Options
		}
		resources = append(resources, made[r])
	}
	version := graph.NewVersion(graph.VersionID{Module: o.module, Deployment: 1}, resources)
	t, err := (&graph.Graph{Environment: o.environment}).Deploy(graph.Update{Version: version})
	if err != nil {
		return nil, err
	}
	return t.Graph, nil
}

// sets reports whether desired state sets a property of a resource. The resource may have another name there.
func (o *offline) sets(r *lumigl.Vertex, name string) bool {
	if v := o.wanted.Vertex(r.Key()); v != nil {
		return v.Properties.Get(name).Exists()
	}
	for v := range o.wanted.Vertices() {
		if v.Type == r.Type && v.Properties.Get(name).Exists() {
			return true
		}
	}
	return false
}

// Describe implements [Provider].
func (o *offline) Describe(_ context.Context, types []tokens.Type) ([]Description, error) {
	functions := map[tokens.Type]bool{}
	for v := range o.wanted.Vertices() {
		functions[v.Type] = functions[v.Type] || graph.IsCall(v.Options)
	}
	all := make([]Description, len(types))
	for i, t := range types {
		all[i] = Description{Type: t, Replaces: o.Replaces[t], Function: functions[t]}
	}
	return all, nil
}

// Check implements [Provider]. Existing resources keep their outputs.
func (o *offline) Check(_ context.Context, r CheckRequest) (lumigl.Value, error) {
	var all lumigl.ObjectBuilder
	all.SetAll(r.Old)
	for _, name := range o.Replaces[r.URN.Type()] {
		if !r.Old.Get(name).IsUnknown() {
			all.Set(name, lumigl.Value{}) // Do not keep old values: InspectChange compares these properties.
		}
	}
	all.SetAll(r.Properties)
	for _, name := range o.Computed[r.URN.Type()] {
		if !r.Properties.Get(name).Exists() {
			all.Set(name, r.Old.Get(name))
		}
	}
	return all.Object(), nil
}

// Name implements [Provider]. It returns names and numbers unchanged, but appends "'" to numbers that are already in
// the state.
func (o *offline) Name(_ context.Context, r Desired) (string, error) {
	name := last(r.URN)
	if !isPlaceholder(name) {
		return name, nil
	}
	for u := r.URN; o.state.Vertex(string(u)) != nil; u += "'" {
		name += "'"
	}
	return name, nil
}

// Get implements [Provider]. It is called only for look-ups, since nothing is imported without options.
func (o *offline) Get(_ context.Context, r Existing) (inputs, outputs lumigl.Value, err error) {
	v := o.state.Vertex(string(r.URN))
	return inputs, o.results(r.URN, v != nil && v.ID == r.ID), nil
}

// Call implements [Provider].
func (o *offline) Call(_ context.Context, r Desired) (lumigl.Value, error) {
	v := o.state.Vertex(string(r.URN))
	isSame := v != nil
	for name, argument := range r.Properties.Members() {
		isSame = isSame && argument.Equal(v.Properties.Get(name))
	}
	return o.results(r.URN, isSame), nil
}

// results returns the results of a look-up or a call in the state. If it is not the same there, they are unknown.
func (o *offline) results(u urn.URN, isSame bool) lumigl.Value {
	if isSame {
		return o.state.Vertex(string(u)).Properties
	}
	var all lumigl.ObjectBuilder
	for _, name := range slices.Concat(o.Outputs[u.Type()], o.read[string(u)]) {
		all.Set(name, lumigl.TextOf(wire.Unknown))
	}
	return all.Object()
}

// InspectChange implements [Provider]. It reports only changes that require a replacement, which makes outputs unknown.
func (o *offline) InspectChange(_ context.Context, r InspectChangeRequest) (d Difference, err error) {
	old := Known(r.Old)
	new := o.settle(r.URN.Type(), old, Known(r.Properties))
	for _, name := range o.Replaces[r.URN.Type()] {
		if !new.Get(name).Equal(old.Get(name)) {
			d.Changes = append(d.Changes, Change{Path: name, Replaces: true})
		}
	}
	return d, nil
}

// compare returns the differences between the state and the result of a plan.
func (o *offline) compare(desired *lumigl.Snapshot, p *Plan) (*diff.Delta, error) {
	s := &lumigl.Snapshot{
		Package: desired.Package, Args: desired.Args,
		Lineage: o.state.Lineage, Serial: o.state.Serial, Pending: o.state.Pending,
	}
	s.Tag, s.Fields = desired.Tag, desired.Fields
	recognized := &diff.Recognized{Reason: "everything in the program is the same except the URN"}
	steps := map[urn.URN]*Step{} // by the URN in the program
	for _, step := range p.Steps {
		if step.New != nil {
			steps[step.New.InProgram()] = step
		}
	}
	final := func(r *lumigl.Vertex) *lumigl.Vertex {
		if step := steps[r.URN()]; step != nil && step.URN != r.URN() {
			r, _ = lumigl.NewResource(step.URN)
		}
		return r
	}
	for r := range desired.Vertices() {
		n, err := s.Add(final(r).URN())
		if err != nil {
			return nil, err
		}
		was := cmp.Or(o.state.Vertex(n.Key()), &lumigl.Vertex{})
		n.Type, n.ID, n.Options, n.Extensions = r.Type, cmp.Or(r.ID, was.ID), r.Options.Retarget(final), r.Extensions
		if !n.Extensions.Exists() {
			n.Extensions = was.Extensions
		}
		if n.Properties = r.Properties.Retarget(final); steps[r.URN()] != nil {
			n.Properties = plainValue(steps[r.URN()].New.Inputs)
		}
		if step := steps[r.URN()]; step != nil && step.IsRead() {
			n.Properties = plainValue(lumigl.Merged(step.New.Inputs, step.New.Outputs))
			if n.ID = step.New.ID; n.ID == was.ID {
				n.Options = was.Options
			}
		}
		for _, name := range slices.Concat(o.Outputs[r.Type], o.Computed[r.Type]) {
			if !n.Properties.Get(name).Exists() {
				n.Properties = n.Properties.With(name, was.Properties.Get(name))
			}
		}
		n.Properties = o.settle(r.Type, was.Properties, n.Properties)
		if n.Key() != r.Key() && was.Key() != "" {
			recognized.Named = append(recognized.Named, match.Pair{Old: was, New: r})
		}
	}
	for r := range o.state.Vertices() {
		if parts, _ := r.URN().Parts(); parts.Package == o.module || s.Vertex(r.Key()) != nil {
			continue
		}
		n, err := s.Add(r.URN())
		if err != nil {
			return nil, err
		}
		n.Type, n.ID, n.Options, n.Extensions, n.Properties = r.Type, r.ID, r.Options, r.Extensions, r.Properties
	}
	for _, m := range p.Moves {
		recognized.Moves = append(recognized.Moves, match.Pair{Old: o.state.Vertex(m.Old.Key()), New: s.Vertex(m.New.Key())})
	}
	return diff.Compare(o.state, s, diff.Options{Replaces: o.Replaces, Recognized: recognized})
}
