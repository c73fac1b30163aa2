package lumi

import (
	"github.com/lumi-idl/lumi/internal/constraint"
	"github.com/lumi-idl/lumi/runtime/internal/signed"
)

// ConflictsWith declares that the others must be absent if the property is present. Unknown values count as present.
func (p *Props) ConflictsWith(name string, others ...string) {
	p.relate(name, others, true, "cannot be combined with ")
}

// RequiredWith declares that the others must be present if the property is.
func (p *Props) RequiredWith(name string, others ...string) {
	p.relate(name, others, false, "also needs ")
}

// relate reports the others whose presence equals wrong if the property is present.
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

// ExactlyOneOf declares that exactly one of the properties must be present.
func (p *Props) ExactlyOneOf(names ...string) {
	if p.judgesRelations() {
		p.exactlyOneOf(names)
	}
}

// judgesRelations reports whether the walk checks a program's properties. A provider may set properties that a program
// must not combine.
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

// has reports whether a property is present in the current object.
func (p *Props) has(name string) bool {
	v, _ := signed.Reveal(p.fields[name])
	return v != nil && !signed.IsNull(v)
}
