package convert

import (
	"slices"

	"github.com/lumi-idl/lumi/lumigl"
)

// index finds a resource's properties by value.
type index struct {
	id     string
	byText map[string]string // property name by text, "" if ambiguous
}

// fill builds the index of a resource's properties.
func (x *index) fill(d *draft) {
	x.id, x.byText = d.ID, map[string]string{}
	for _, property := range d.properties {
		text, ok := property.Value.Text()
		if !ok {
			continue
		}
		name := property.Key
		if _, twice := x.byText[text]; twice {
			name = ""
		}
		x.byText[text] = name
	}
}

// connect replaces values from declared dependencies with references and adds the dependencies that no reference
// covers.
func (p *pulumi) connect() {
	p.placeReferences()
	for _, d := range p.drafts {
		for _, to := range p.resources(d, d.said.key("dependencies").value) {
			d.place.before = append(d.place.before, to.place)
		}
		for name, list := range d.said.key("propertyDependencies").value.Members() {
			if name == "" {
				continue
			}
			for _, to := range p.resources(d, list) {
				d.place.before = append(d.place.before, to.place)
				if to.index == nil {
					to.index = &index{}
				}
			}
		}
	}
	p.rank()
	p.cut()
	for _, d := range p.drafts { // index all resources before any of them changes
		if d.index != nil {
			d.index.fill(d)
		}
	}
	for _, d := range p.drafts {
		p.linkAll(d)
		p.rest(d)
	}
}

// resources returns the resources in a dependency list, without duplicates.
func (p *pulumi) resources(d *draft, list lumigl.Value) []*draft {
	var all []*draft
	p.lists++
	for _, v := range list.Elements() {
		key, _ := v.Text()
		if to := p.find(key, d); to != nil && to.state == live && to.list != p.lists && key != "" {
			to.list = p.lists
			all = append(all, to)
		}
	}
	return all
}

func (p *pulumi) linkAll(d *draft) {
	for name, list := range d.said.key("propertyDependencies").value.Members() {
		on := p.resources(d, list)
		if len(on) == 0 || len(on) > mostSearched || name == "" {
			continue
		}
		if i := d.property(name); i >= 0 {
			p.link(d, &d.properties[i].Value, func(text string) (*draft, string) { return p.meant(text, on) })
		}
	}
}

// property returns the index of the named property, or -1.
func (d *draft) property(name string) int {
	return slices.IndexFunc(d.properties, func(p lumigl.Member) bool { return p.Key == name })
}

// meant returns the resource whose id equals text or, if there is none, the resource and property with that value. It
// returns nil if none or several match.
func (p *pulumi) meant(text string, among []*draft) (to *draft, property string) {
	for _, d := range among {
		if d.index.id == text {
			if to != nil {
				return nil, ""
			}
			to = d
		}
	}
	if to != nil {
		return to, ""
	}
	for _, d := range among {
		name, ok := d.index.byText[text]
		if !ok {
			continue
		}
		if to != nil || name == "" {
			return nil, ""
		}
		to, property = d, name
	}
	return to, property
}

// rest adds the dependencies that no reference covers to the options. Dependencies on missing resources and on cycles
// stay in the extensions.
func (p *pulumi) rest(d *draft) {
	targets := d.targets()
	var left []lumigl.Value
	for _, s := range d.said.key("dependencies").elements() {
		key := s.text()
		to := p.find(key, d)
		switch {
		case key == "" || to != nil && targets[to.Vertex]:
		case to == nil || to == d:
			left = append(left, lumigl.TextOf(key))
			s.note(DependencyLoss, "kept in the extensions, where it has no effect: no other resource has this URN")
		case !d.may(to):
			left = append(left, lumigl.TextOf(key))
			s.note(DependencyLoss, "kept in the extensions, where it has no effect: it would create a dependency cycle")
		default:
			targets[to.Vertex] = true
			d.after = append(d.after, lumigl.ReferenceTo(to.Vertex))
		}
	}
	if len(left) > 0 {
		d.extensions.set("dependencies", lumigl.ListOf(left...))
	}
	var byProperty bag
	for name, list := range d.said.key("propertyDependencies").members() {
		var left []lumigl.Value
		i := d.property(name)
		for _, s := range list.elements() {
			key := s.text()
			to := p.find(key, d)
			refers := func(v lumigl.Value) bool { target, _, _ := v.Target(); return target == to.Vertex }
			if key == "" || to != nil && i >= 0 && has(d.properties[i].Value, refers) {
				continue
			}
			left = append(left, lumigl.TextOf(key))
		}
		if len(left) > 0 {
			byProperty.set(name, lumigl.ListOf(left...))
		}
	}
	d.extensions.set("propertyDependencies", byProperty.object())
}
