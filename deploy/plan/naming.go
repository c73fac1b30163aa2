package plan

import (
	"fmt"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/expr"
)

// defaultName returns the physical name that an item has by default, or an absent value if the program chooses one. named
// is set if the type is known to be named by programs, which may then omit the property.
func (it *item) defaultName(named bool) lumigl.Value {
	name := it.desired.Properties.Get(nameProperty)
	if !name.Exists() && named {
		return lumigl.TextOf(last(it.desired.URN()))
	}
	if graph.IsDefaultName(name, it.desired.URN()) {
		return name
	}
	return lumigl.Value{}
}

// keepName sets the name of an item to a default unless that is absent. An existing resource whose name was not chosen by
// the program keeps it, so that it survives a rename in the program and a change of the environment's setting "names".
func (it *item) keepName(name lumigl.Value) {
	if !name.Exists() {
		return
	}
	if it.old != nil {
		if stored, isAuto := it.old.PhysicalName(); isAuto {
			name = stored
		}
	}
	if !name.Equal(it.inputs.Get(nameProperty)) {
		it.inputs = it.inputs.With(nameProperty, name)
	}
}

// incarnate prepares an item's resource for creation, as a new resource or as a replacement: it sets the incarnation and
// the seed of its generated values, and the name if the program leaves that to the engine.
func (p *planner) incarnate(c *classified) {
	c.incarnation = p.Incarnations[c.desired.URN()]
	if c.old != nil {
		c.incarnation = c.old.Incarnation + 1
	}
	c.seed = p.newSeed(c.desired.URN(), c.incarnation)
	name := c.defaultName
	if !name.Exists() || c.old != nil && covers(c.options.Get("ignoreChanges"), nameProperty) {
		return
	}
	if text, _ := name.Text(); p.UniqueNames && c.class != importable && p.types[c.desired.Type].Named {
		name = expr.UniqueName(text)
	}
	c.inputs = c.inputs.With(nameProperty, name)
}

// sent returns the properties of an item in the form sent to providers, with the text of its unique name.
func (p *planner) sent(c *classified) (lumigl.Value, error) {
	properties := expr.Unknown(c.inputs)
	name := properties.Get(nameProperty)
	base, length, isUnique := expr.Unique(name)
	if !isUnique {
		return properties, nil
	}
	if old := c.old; old != nil && string(c.seed) == string(old.Seed) && old.Inputs.Get(nameProperty).Equal(name) {
		return properties.With(nameProperty, old.Checked.Get(nameProperty)), nil // even if the type's rules have changed
	}
	if isNumbered(c.desired.URN().Name()) {
		return properties, fmt.Errorf("uniqueName: the provider names resources of type %s", c.desired.Type)
	}
	text, err := uniqueName(base, length, c.seed, p.types[c.desired.Type])
	return properties.With(nameProperty, lumigl.TextOf(text)), err
}

// plannedName returns the physical name of a resource to be created, which is known before any output. It returns an
// absent value for other properties, and if the name is unknown or may stay what it is.
func (p *planner) plannedName(target *lumigl.Vertex, property string) lumigl.Value {
	i, ok := p.index[target]
	if !ok || property != nameProperty || !p.types[target.Type].Named {
		return lumigl.Value{}
	}
	s := p.items[i].step
	if s == nil || s.New.ID != "" || s.Possible || !expr.IsKnown(s.New.Checked.Get(nameProperty)) {
		return lumigl.Value{}
	}
	return s.New.Checked.Get(nameProperty)
}

// checkKeptNames records a fault for each item to be created under a name that another resource of the program keeps
// since it was renamed.
func (p *planner) checkKeptNames() {
	type named struct{ of, name string }
	kept := map[named]int32{}
	each := func(do func(i int32, s *Step, n named)) {
		for i := range int32(len(p.items)) {
			s := p.items[i].step
			if s == nil {
				continue
			}
			if text, ok := s.New.Inputs.Get(nameProperty).Text(); ok {
				do(i, s, named{string(s.New.Type()), text})
			}
		}
	}
	each(func(i int32, s *Step, n named) {
		if s.New.AutoName {
			kept[n] = i
		}
	})
	if len(kept) == 0 {
		return
	}
	each(func(i int32, s *Step, n named) {
		by, isKept := kept[n]
		if isKept && by != i && s.New.ID == "" && p.types[s.New.Type()].sameName(s.New.Checked, p.items[by].step.New.Checked) {
			p.fault(i, "%s has kept the name %q since it was renamed: give this resource another name", p.items[by].urn.Name(), n.name)
		}
	})
}
