package lumi

import (
	"github.com/lumi-idl/lumi/internal/constraint"
	"github.com/lumi-idl/lumi/runtime/internal/signed"
)

// ConflictsWith says that the others are absent where the property is present. Unknown values are present.
func (p *Props) ConflictsWith(name string, others ...string) {
	p.relate(name, others, true, "cannot be combined with ")
}

// RequiredWith says that the others are present where the property is.
func (p *Props) RequiredWith(name string, others ...string) {
	p.relate(name, others, false, "also needs ")
}

// relate reports those of the others whose presence is wrong where the property is present.
func (p *Props) relate(name string, others []string, wrong bool, problem string) {
	if !p.judgesRelations() || !p.has(name) {
		return
	}
	for _, other := range others {
		if p.has(other) == wrong && p.push(step{name: name, index: fieldStep}) {
			p.fault("%s", problem+other)
			p.pop()
		}
	}
}

// ExactlyOneOf says that one of the properties is present, and the others are not.
func (p *Props) ExactlyOneOf(names ...string) {
	if p.judgesRelations() {
		p.exactlyOneOf(names)
	}
}

// judgesRelations reports whether the walk is over what a program gave. A provider may fill in what a program must not
// combine.
func (p *Props) judgesRelations() bool { return p.mode == strict && p.only == 0 && !p.checked }

func (p *Props) exactlyOneOf(names []string) {
	var found []string
	for _, name := range names {
		if p.has(name) {
			found = append(found, name)
		}
	}
	p.breaks(constraint.ExactlyOne(names, found))
}

// has reports whether the object at hand has a property.
func (p *Props) has(name string) bool {
	v, _ := signed.Reveal(p.fields[name])
	return v != nil && !signed.IsNull(v)
}
