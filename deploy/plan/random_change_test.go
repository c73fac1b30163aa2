package plan_test

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/lumigl"
)

// simDraw draws random programs and changes from a seed. Rapid draws only the seed, which is fast and still lets it
// find short failing sequences.
type simDraw struct {
	*rand.Rand
	environment *simEnvironment
}

func newDraw(t *rapid.T, e *simEnvironment) simDraw {
	seed := rapid.Uint32().Draw(t, "seed")
	return simDraw{rand.New(rand.NewPCG(uint64(seed), 0)), e}
}

func (d simDraw) oneIn(n int) bool { return d.IntN(n) == 0 }

// module returns an existing module or, as long as there are few, possibly a new one.
func (d simDraw) module() *simModule {
	e := d.environment
	i := d.IntN(4)
	for len(e.modules) <= i && (len(e.modules) == 0 || d.oneIn(8)) {
		e.modules = append(e.modules, &simModule{name: string(rune('a' + len(e.modules)))})
	}
	return e.modules[min(i, len(e.modules)-1)]
}

// use adds a use of a value provided by an earlier module to m. It returns false if there is no such value.
func (d simDraw) use(m *simModule) (simUse, bool) {
	earlier := d.environment.modules[:slices.Index(d.environment.modules, m)]
	if len(earlier) == 0 {
		return simUse{}, false
	}
	other := earlier[d.IntN(len(earlier))]
	if len(other.provides) == 0 {
		return simUse{}, false
	}
	p := other.provides[d.IntN(len(other.provides))]
	u := simUse{module: other.name, name: p.name, kind: p.kind}
	switch {
	case p.kind == simNumber && d.oneIn(3):
		u.where = []string{"value >= 0.0", "value < 2.0"}[d.IntN(2)]
	case p.kind == simString && d.oneIn(3):
		u.where = []string{"value != ''", "value.startsWith('arn')"}[d.IntN(2)]
	}
	i := slices.IndexFunc(m.uses, func(old simUse) bool { return old.module == u.module && old.name == u.name })
	if i < 0 {
		m.uses = append(m.uses, u)
		return u, true
	}
	if d.oneIn(4) {
		m.uses[i] = u
	}
	return m.uses[i], true
}

// value draws a value that may refer to the first resources of a module, up to before.
func (d simDraw) value(m *simModule, before int) simValue {
	reference := func(form string) simValue {
		of := m.resources[d.IntN(before)]
		property := ""
		if form == "output" {
			property = []string{"arn", "state", "id", "size", "name"}[d.IntN(5)]
		}
		return simValue{form: form, of: of.number, property: property}
	}
	form := d.IntN(10)
	if form > 2 && form < 8 && before == 0 {
		form = 0
	}
	switch form {
	case 2:
		return simValue{form: "secret", literal: lumigl.IntOf(int64(d.IntN(2)))}
	case 3, 4:
		return reference("resource")
	case 5:
		return reference("output")
	case 6:
		parts := []simValue{{form: "literal", literal: lumigl.TextOf("in ")}, {form: "output", of: reference("output").of, property: "arn"}}
		return simValue{form: "interpolate", parts: parts}
	case 7:
		form := []string{"jsonStringify", "get", "list"}[d.IntN(3)]
		return simValue{form: form, parts: []simValue{{form: "output", of: reference("output").of, property: "state"}, simLiteral(d.IntN(2))}}
	case 8, 9:
		if u, ok := d.use(m); ok {
			return simValue{form: "use", property: u.module + "." + u.name}
		}
	}
	return simLiteral(d.IntN(3))
}

// valueOf draws the value of a property. The property "size" gets no references, since ignored changes to it could keep
// a reference to a resource that is no longer in the program.
func (d simDraw) valueOf(name string, m *simModule, before int) simValue {
	if v := d.value(m, before); name != "size" || v.form != "resource" && v.form != "use" {
		return v
	}
	return simLiteral(d.IntN(3))
}

var simProperties = []string{"size", "text", "link", "zone", "base"}

// addResource adds a resource to a module at a random position.
func (d simDraw) addResource(m *simModule) {
	e := d.environment
	place := len(m.resources)
	if place > 0 && d.oneIn(4) {
		place = d.IntN(place)
	}
	r := simResource{number: e.next, kind: d.IntN(len(simTypes)), properties: map[string]simValue{}}
	e.next++
	if simTypes[r.kind].Named {
		r.name = fmt.Sprintf("%s%d", m.name, r.number)
		r.properties["name"] = simValue{form: "literal", literal: lumigl.TextOf(r.name)}
		if d.oneIn(4) {
			r.properties["name"] = simValue{form: "unique"}
		}
	} else {
		r.properties["key"] = simLiteral(r.number)
		if simTypes[r.kind].Type == "x:m:Key" {
			r.properties["key"] = simLiteral(d.IntN(3))
		}
	}
	for _, name := range simProperties {
		if d.oneIn(2) {
			r.properties[name] = d.valueOf(name, m, place)
		}
	}
	if d.oneIn(3) {
		d.changeOptions(m, &r, place)
	}
	m.resources = slices.Insert(m.resources, place, r)
}

// changeOptions changes an option of a resource. Protection is rare, since it prevents plans.
func (d simDraw) changeOptions(m *simModule, r *simResource, place int) {
	flag := func(name string) {
		if i := slices.Index(r.flags, name); i >= 0 {
			r.flags = slices.Delete(r.flags, i, i+1)
		} else {
			r.flags = append(r.flags, name)
		}
	}
	path := func(name string) {
		if r.paths == nil {
			r.paths = map[string]string{}
		}
		if r.paths[name] != "" && d.oneIn(2) {
			delete(r.paths, name)
		} else {
			r.paths[name] = simProperties[d.IntN(len(simProperties))]
			if name == "ignoreChanges" {
				r.paths[name] = "size"
			}
		}
	}
	switch d.IntN(8) {
	case 0, 1, 2:
		if place > 0 {
			number := m.resources[d.IntN(place)].number
			if !slices.Contains(r.dependsOn, number) {
				r.dependsOn = append(r.dependsOn, number)
			}
		}
	case 3:
		flag("deleteBeforeReplace")
	case 4:
		flag("retainOnDelete")
	case 5:
		if slices.Contains(r.flags, "protect") || d.oneIn(3) {
			flag("protect")
		}
	case 6:
		path("ignoreChanges")
	case 7:
		path("replaceOnChanges")
	}
}

// provide adds or replaces a value provided by a module.
func (d simDraw) provide(m *simModule) {
	p := simProvided{name: fmt.Sprintf("v%d", d.IntN(3)), kind: d.IntN(len(simProvidedKinds))}
	disks := slices.DeleteFunc(slices.Clone(m.resources), func(r simResource) bool { return simTypes[r.kind].Type != "x:m:Disk" })
	output := func(property string) (simValue, bool) {
		if len(m.resources) == 0 || d.oneIn(3) {
			return simValue{}, false
		}
		return simValue{form: "output", of: m.resources[d.IntN(len(m.resources))].number, property: property}, true
	}
	var ok bool
	switch {
	case p.kind == simNumber:
		if p.value, ok = output("state"); !ok {
			p.value = simLiteral(d.IntN(3))
		}
	case p.kind == simDisk && len(disks) == 0:
		return
	case p.kind == simDisk:
		p.value = simValue{form: "resource", of: disks[d.IntN(len(disks))].number}
	case p.kind == simObject:
		p.value = simValue{form: "literal", literal: lumigl.ObjectOf(lumigl.Member{Key: "a", Value: lumigl.IntOf(int64(d.IntN(2)))})}
	default:
		if p.value, ok = output("arn"); !ok {
			p.value = simValue{form: "literal", literal: lumigl.TextOf([]string{"", "arn:x"}[d.IntN(2)])}
		}
	}
	if i := slices.IndexFunc(m.provides, func(old simProvided) bool { return old.name == p.name }); i >= 0 {
		m.provides[i] = p
	} else {
		m.provides = append(m.provides, p)
	}
}

func (d simDraw) change(m *simModule) {
	kind := d.IntN(12)
	if kind > 1 && kind < 9 && len(m.resources) == 0 {
		kind = 0
	}
	i := 0
	if kind > 1 && kind < 9 {
		i = d.IntN(len(m.resources))
	}
	switch kind {
	case 0, 1:
		for range 1 + d.IntN(4) {
			d.addResource(m)
		}
	case 2, 3:
		m.remove(i)
	case 4, 5:
		d.changeProperty(m, i, simProperties[:3])
	case 6:
		d.changeProperty(m, i, simProperties[3:])
	case 7:
		if m.resources[i].name != "" && d.oneIn(2) {
			d.takeName(m, i)
		} else {
			d.rename(&m.resources[i])
		}
	case 8:
		d.changeOptions(m, &m.resources[i], i)
	case 9:
		d.reorder(m)
	case 10:
		if len(m.provides) > 0 && d.oneIn(3) {
			i := d.IntN(len(m.provides))
			m.provides = slices.Delete(m.provides, i, i+1)
		} else {
			d.provide(m)
		}
	default:
		if len(m.uses) > 0 && d.oneIn(3) {
			i := d.IntN(len(m.uses))
			m.replaceValues(0, m.uses[i].module+"."+m.uses[i].name)
			m.uses = slices.Delete(m.uses, i, i+1)
		} else {
			d.use(m)
		}
	}
}

func (d simDraw) changeProperty(m *simModule, i int, names []string) {
	name := names[d.IntN(len(names))]
	if d.oneIn(5) {
		delete(m.resources[i].properties, name)
	} else {
		m.resources[i].properties[name] = d.valueOf(name, m, i)
	}
}

// takeName gives a named resource the physical name of another one of its type, which gets its name or is removed. If
// there is no other one, it gets one of a few names.
func (d simDraw) takeName(m *simModule, i int) {
	r := m.resources[i]
	of := slices.IndexFunc(m.resources, func(other simResource) bool { return other.kind == r.kind && other.number != r.number })
	if of < 0 {
		r.properties["name"] = simValue{form: "literal", literal: lumigl.TextOf(fmt.Sprintf("%s-%d", m.name, d.IntN(3)))}
		return
	}
	other := m.resources[of].properties
	r.properties["name"], other["name"] = other["name"], r.properties["name"]
	if d.oneIn(2) {
		m.remove(of)
	}
}

// rename changes the URN of a named resource, usually with an alias, or the key of an unnamed one.
func (d simDraw) rename(r *simResource) {
	if r.name == "" {
		r.properties["key"] = simLiteral(d.IntN(d.environment.next))
		return
	}
	r.aliases = nil
	if !d.oneIn(4) {
		r.aliases = []string{r.name}
	}
	r.name = fmt.Sprintf("n%d", d.environment.next)
	d.environment.next++
	if d.oneIn(3) {
		r.properties["name"] = simValue{form: "literal", literal: lumigl.TextOf(r.name)}
	}
}

// reorder moves a resource to the earliest position allowed by its references.
func (d simDraw) reorder(m *simModule) {
	if len(m.resources) < 2 {
		return
	}
	i := d.IntN(len(m.resources))
	r := m.resources[i]
	place := 0
	for j, other := range m.resources[:i] {
		if slices.Contains(r.dependsOn, other.number) {
			place = j + 1
		}
		for _, v := range r.properties {
			if v.refersTo(other.number) {
				place = j + 1
			}
		}
	}
	m.resources = slices.Insert(slices.Delete(m.resources, i, i+1), place, r)
}
