package lumi

import (
	"context"
	"slices"

	"github.com/lumi-idl/lumi/internal/constraint"
	"github.com/lumi-idl/lumi/internal/suggest"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

// Description describes a resource type or a function.
type Description struct {
	Type tokens.Type
	// Function is set for a function.
	Function bool
	// Named is set if programs name the resources, rather than the provider.
	Named bool
	// CanFind is set if the provider implements Find.
	CanFind bool
	// IdempotentCreate is set if a repeated Create with the same token returns the result of the first.
	IdempotentCreate bool
	// RepeatableChange is set if a repeated Update or Delete with the same token has no further effect, at any time.
	RepeatableChange bool
	// Properties lists the resource's properties, or the function's arguments and [Out] results, in declaration order.
	Properties []Property
	// Name holds the constraints on the names that programs choose.
	Name NameRules
}

// NameRules are the constraints on the names that programs choose. Engines keep to them when they make up names.
type NameRules struct {
	// MinLength and MaxLength bound the number of Unicode characters. MaxLength is 0 if there is no maximum.
	MinLength, MaxLength int
	// Pattern is a regular expression that matches part of every name, or "".
	Pattern string
	// Scope is the property within which names are unique, or "" if they are unique within a provider configuration.
	Scope string
}

// nameRules returns the constraints on the name of o, which are declared in its codec.
func nameRules(o Object) (n NameRules) {
	p := newProps(context.Background(), describe, nil)
	o.Lumi(p)
	for i, property := range p.properties {
		if c, ok := p.codecs[i].(*constrained); ok && property.Name == nameProperty {
			n.MinLength, n.MaxLength, n.Pattern = constraint.OfText(c.rules)
		}
	}
	return n
}

// Describe returns the properties of o in declaration order, without those of nested objects. It does not read o's
// fields.
func Describe(o Object) []Property {
	p := newProps(context.Background(), describe, nil)
	o.Lumi(p)
	equality := equalityOfObject(o, p)
	for i := range p.properties {
		p.properties[i].Equality = equality.Properties[p.properties[i].Name]
	}
	return p.properties
}

// undeclared reports a fault for each field of the current object that o does not declare. In a stored bag, such fields
// are not faults, but mark the bag as a misfit.
func (p *Props) undeclared(o Object) {
	var names, settable []string
	properties := Describe(o)
	for _, property := range properties {
		names = append(names, property.Name)
		if property.Flags&Out == 0 {
			settable = append(settable, property.Name)
		}
	}
	for _, f := range p.object.Fields() {
		key := f.Name
		if slices.Contains(names, key) || f.Value.IsNull() {
			continue
		}
		if p.mode == lenient {
			p.misfit = true
			return
		}
		instead := ""
		if !p.isHidden() {
			instead = insteadOf(key, properties, settable)
		}
		if p.push(step{name: key, index: keyStep}) {
			p.fault("%s", "no such property"+instead)
			p.pop()
		}
	}
}

// insteadOf returns a suffix for an error message about an unknown property: its new name if it was renamed, a similar
// name, or "".
func insteadOf(name string, properties []Property, names []string) string {
	for _, now := range properties {
		if slices.Contains(now.Was, name) {
			return "; it was renamed to " + now.Name
		}
	}
	return didYouMean(name, names)
}

// didYouMean returns a suffix for an error message about an unknown name, suggesting a similar one, or "" if there is
// none.
func didYouMean(name string, names []string) string {
	near := suggest.Name(name, names)
	if near == "" {
		return ""
	}
	return "; did you mean " + quote(near) + "?"
}
