package convert

import (
	"slices"

	"github.com/lumi-idl/lumi/lumigl"
)

// index finds the properties of a resource by what they say.
type index struct {
	id     string
	byText map[string]string // to a property's name, or "" if several say it
}

func (p *pulumi) indexOf(d *draft) *index {
	if x, ok := p.indexes[d]; ok {
		return x
	}
	if p.indexes == nil {
		p.indexes = map[*draft]*index{}
	}
	x := &index{id: d.ID, byText: map[string]string{}}
	for _, property := range d.properties {
		text, ok := property.value.Text()
		if !ok {
			continue
		}
		name := property.name
		if _, twice := x.byText[text]; twice {
			name = ""
		}
		x.byText[text] = name
	}
	p.indexes[d] = x
	return x
}

// connect makes references of the values that properties have from what they are said to depend on, and keeps what no
// reference says.
func (p *pulumi) connect() {
	p.references = standing(p.references)
	for _, r := range p.references {
		r.from.place.before = append(r.from.place.before, r.to.place)
	}
	for _, d := range p.drafts {
		for _, list := range p.dependencies(d) {
			for _, to := range list {
				d.place.before = append(d.place.before, to.place)
			}
		}
	}
	p.rank()
	p.cut(p.references)
	for _, d := range p.drafts { // All have to be known before any of them changes.
		p.indexOf(d)
	}
	for _, d := range p.drafts {
		p.linkAll(d)
		p.rest(d)
		d.extend(Pulumi)
	}
}

// dependencies are those that are declared, by property, and under "" those of the whole resource.
func (p *pulumi) dependencies(d *draft) map[string][]*draft {
	all := map[string][]*draft{}
	add := func(name string, list lumigl.Value) {
		seen := map[*draft]bool{}
		for _, v := range list.Elements() {
			key, _ := v.Text()
			if to := p.find(key, d); to != nil && to.state == live && !seen[to] && key != "" {
				seen[to] = true
				all[name] = append(all[name], to)
			}
		}
	}
	add("", d.said.key("dependencies").value)
	for name, list := range d.said.key("propertyDependencies").value.Members() {
		if name != "" {
			add(name, list)
		}
	}
	return all
}

// linkAll makes references of what the properties have from others.
func (p *pulumi) linkAll(d *draft) {
	all := p.dependencies(d)
	for i := range d.properties {
		on := all[d.properties[i].name]
		if len(on) == 0 || len(on) > mostSearched || d.properties[i].name == "" {
			continue
		}
		p.link(d, &d.properties[i], func(text string) (*draft, string) { return p.meant(text, on) })
	}
}

// meant is the one resource, or property of one, that a text can be from.
func (p *pulumi) meant(text string, among []*draft) (to *draft, property string) {
	for _, d := range among {
		if p.indexOf(d).id == text {
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
		name, ok := p.indexOf(d).byText[text]
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

// rest keeps the dependencies that no reference says.
func (p *pulumi) rest(d *draft) {
	targets := map[*lumigl.Vertex]bool{}
	for _, to := range d.targets() {
		targets[to] = true
	}
	var left []lumigl.Value
	for _, s := range d.said.key("dependencies").elements() {
		key := s.text()
		if to := p.find(key, d); to != nil && targets[to.Vertex] || key == "" {
			continue
		}
		left = append(left, lumigl.TextOf(key))
		s.note(DependencyLoss, "kept in the extensions, where nothing acts on it: no property refers to what has to be there before")
	}
	if len(left) > 0 {
		d.extensions.set("dependencies", lumigl.ListOf(left...))
	}
	var byProperty bag
	for name, list := range d.said.key("propertyDependencies").members() {
		var left []lumigl.Value
		i := slices.IndexFunc(d.properties, func(p property) bool { return p.name == name })
		for _, s := range list.elements() {
			key := s.text()
			to := p.find(key, d)
			if key == "" || to != nil && i >= 0 && refersTo(d.properties[i].value, to.Vertex) {
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

func refersTo(v lumigl.Value, target *lumigl.Vertex) bool {
	for to := range v.References() {
		if to == target {
			return true
		}
	}
	return false
}
