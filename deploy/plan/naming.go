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

// keepName adds the default name to the inputs of an item that lack one, unless it is absent. If the program chose neither
// this name nor that of the existing resource, the resource keeps its name, which thus survives a rename in the program and
// a change of the environment's setting "names". keepName reports whether it changed the inputs.
func (it *item) keepName(defaultName lumigl.Value) bool {
	name := it.inputs.Get(nameProperty)
	now := name
	if !name.Exists() {
		now = defaultName
	}
	if it.old != nil && defaultName.Exists() {
		if stored, isAuto := it.old.PhysicalName(); isAuto {
			now = stored
		}
	}
	if now.Equal(name) {
		return false
	}
	it.inputs = it.inputs.With(nameProperty, now)
	return true
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

// withNames returns a function that resolves the names of resources to be created, and all else as resolve does.
func (p *planner) withNames(resolve expr.Resolve) expr.Resolve {
	return func(target *lumigl.Vertex, property string) (lumigl.Value, bool) {
		if name := p.plannedName(target, property); name.Exists() {
			return name, true
		}
		return resolve(target, property)
	}
}

// plannedName returns the physical name of a resource to be created, which is known before any output. It returns an
// absent value for other properties, and if the name is unknown or may stay what it is.
func (p *planner) plannedName(target *lumigl.Vertex, property string) lumigl.Value {
	if property != nameProperty || !p.types[target.Type].Named {
		return lumigl.Value{}
	}
	i, ok := p.index[target]
	if !ok {
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
	nameOf := func(r *graph.Resource) (named, bool) {
		text, ok := r.Inputs.Get(nameProperty).Text()
		return named{string(r.Type()), text}, ok
	}
	kept := map[named]int32{}
	for i := range int32(len(p.items)) {
		if s := p.items[i].step; s != nil && s.New.AutoName {
			if n, ok := nameOf(s.New); ok {
				kept[n] = i
			}
		}
	}
	for i := range int32(len(p.items)) {
		s := p.items[i].step
		if len(kept) == 0 || s == nil || s.New.ID != "" {
			continue
		}
		n, _ := nameOf(s.New)
		by, isKept := kept[n]
		if isKept && by != i && p.types[s.New.Type()].sameName(s.New.Checked, p.items[by].step.New.Checked) {
			p.fault(i, "%s has kept the name %q since it was renamed: give this resource another name", p.items[by].urn.Name(), n.name)
		}
	}
}
