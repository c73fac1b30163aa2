package plan

import (
	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
)

func (p *planner) conclude(c *classified, a answers) Step {
	v := a.verdict
	s := Step{
		Kind: c.kind(v), URN: c.urn, Old: c.old, New: c.old,
		Possible: v.possible, NotCompared: v.notCompared, Reasons: v.reasons, Replaces: v.paths,
	}
	if c.class == unchanged && s.Kind == Same {
		return s
	}
	s.New = p.newResource(c, a, s.Kind)
	if s.Kind != Replace {
		return s
	}
	because := ""
	switch {
	case a.difference.DeleteFirst:
		because = "resources of this type are deleted first"
	case s.New.Flag("deleteBeforeReplace"):
		because = "the option deleteBeforeReplace is set"
	case s.New.Options.Get("deleteBeforeReplace").Exists(): // explicitly false
	case c.keepsName(), p.types[c.desired.Type].sameName(s.New.Checked, c.old.Checked):
		because = "it is deleted first, since both have the same name"
	}
	if because != "" {
		s.DeleteFirst, s.Reasons = true, append(s.Reasons, because)
	}
	return s
}

// kind returns the kind of an item's step. The item's final URN must be set.
func (c *classified) kind(v verdict) Kind {
	switch {
	case c.class == missing:
		return Create
	case c.class == importable:
		return Import
	case v.replaces && c.stored.Gone():
		return Create
	case v.replaces:
		return Replace
	case v.updates:
		return Update
	case c.urn != c.old.URN:
		return Move
	}
	return Same
}

// keepsName reports whether the provider gives a replacement the name of the old resource. This happens only in
// requested replacements, in which the properties that determine the name may be unchanged.
func (c *classified) keepsName() bool {
	_, name := c.split(c.old.URN)
	return c.sameName || c.computed != "" && c.asked && (c.computed == c.old.Computed || c.computed == name)
}

// newResource returns the expected state of the resource after a step of the given kind.
func (p *planner) newResource(c *classified, a answers, kind Kind) *graph.Resource {
	r := &graph.Resource{
		URN: c.urn, Deployment: p.Deployment, Inputs: c.inputs, Checked: a.properties, Outputs: a.outputs,
		Options: c.options, Source: c.desired.Source, Incarnation: c.incarnation, Seed: c.seed,
		Sources:  p.Graph.SourcesOf(c.desired.Properties, p.uses),
		AutoName: c.defaultName.Exists() && !c.inputs.Get(nameProperty).Equal(c.defaultName),
	}
	if label := c.desired.URN().Name(); isNumbered(label) {
		r.Label, r.Computed = label, c.computed
	}
	old := c.stored
	if old == nil {
		r.ID = c.id
		return r
	}
	r.Replaced, r.Plugin, r.Provisioner = old.Replaced, old.Plugin, old.Provisioner
	if kind == Replace || kind == Create {
		if r.URN != old.URN {
			r.Replaced = old.ID
		}
		return r
	}
	r.ID = old.ID
	if kind == Update {
		r.Outputs = p.withComputed(c, p.unknownOutputs(c), r.Checked, lumigl.TextOf(wire.Unknown))
		return r
	}
	r.Outputs = p.withComputed(c, old.Outputs, r.Checked, lumigl.Value{})
	r.Deployment, r.Referents, r.Metadata = old.Deployment, old.Referents, old.Metadata
	if c.class == differing {
		refers := p.references(c.number, lumigl.Value{})
		r.Referents = graph.ReferentsOf(a.checked, func(u urn.URN) string { return refers[u].ID })
	} else if !old.Checked.Equal(c.old.Checked) { // The computed name may depend on a moved resource.
		r.Computed = ""
	}
	return r
}

// withComputed returns outputs with the old values of computed properties that the program leaves to the provider, or
// with another value where there is none.
func (p *planner) withComputed(c *classified, outputs, checked, otherwise lumigl.Value) lumigl.Value {
	for _, name := range p.types[c.desired.Type].Computed {
		if checked.Get(name).Exists() {
			continue
		}
		v := c.stored.Outputs.Get(name)
		if !v.Exists() {
			v = c.stored.Checked.Get(name)
		}
		if !v.Exists() {
			v = otherwise
		}
		if v.Exists() {
			outputs = outputs.With(name, v)
		}
	}
	return outputs
}

// unknownOutputs returns an unknown value for each output of a changed item, except that its provider never changes fixed
// outputs. Provisioners may.
func (p *planner) unknownOutputs(c *classified) lumigl.Value {
	var all lumigl.ObjectBuilder
	for _, name := range p.types[c.desired.Type].Outputs {
		all.Set(name, lumigl.TextOf(wire.Unknown))
	}
	for name := range c.old.Metadata.Members() {
		all.Set(name, lumigl.TextOf(wire.Unknown))
	}
	for _, name := range p.types[c.desired.Type].Fixed {
		if v := c.stored.Outputs.Get(name); v.Exists() && c.stored.Provisioner == "" {
			all.Set(name, v)
		}
	}
	return all.Object()
}
