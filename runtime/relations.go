package lumi

import (
	"github.com/lumi-idl/lumi/internal/constraint"
	"github.com/lumi-idl/lumi/runtime/internal/signed"
)

// ConflictsWith declares that if the property name is present, the others must be absent. Unknown values count as
// present.
func (p *Props) ConflictsWith(name string, others ...string) {
	p.relate(name, others, true, "cannot be combined with ")
}

// RequiredWith declares that if the property name is present, the others must be present, too.
func (p *Props) RequiredWith(name string, others ...string) {
	p.relate(name, others, false, "also needs ")
}

// relate reports a fault for each of others that is present, if wrong is true, or absent, if it is false. It does nothing
// if the property name is absent.
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

// ExactlyOneOf declares that exactly one of the named properties must be present.
func (p *Props) ExactlyOneOf(names ...string) {
	if p.judgesRelations() {
		p.exactlyOneOf(names)
	}
}

// judgesRelations reports whether p validates a program's properties. Other bags may contain combinations that programs
// must not use, since the provider may have added properties.
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
	v, _ := signed.Reveal(p.object.Get(name))
	return v != nil && !v.IsNull()
}

// Rules declares the rules of the current object. A program's properties must not break any of them.
func (p *Props) Rules(s *RuleSet) {
	if p.judgesRelations() {
		p.rules = s
	}
}

// checkRules reports the rules that the current, decoded object breaks. before is the number of faults found before the
// object was decoded.
func (p *Props) checkRules(before int) {
	if p.rules == nil {
		return
	}
	o := &p.operands // not a variable, which would be allocated
	*o = operands{object: p.object, faults: p.faults[before:]}
	if len(o.faults) > 0 {
		o.at = p.at()
	}
	for _, r := range p.rules.parse() {
		if r.holds.Fails(o) {
			p.fault("%s", r.message)
		}
	}
}
