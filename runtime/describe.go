package lumi

import (
	"context"
	"maps"
	"slices"

	"github.com/lumi-idl/lumi/internal/suggest"
	"github.com/lumi-idl/lumi/runtime/internal/signed"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

// Description describes a resource type, as declared by the IDL and the provider's author.
type Description struct {
	Type tokens.Type
	// Named is set if programs name the resources.
	Named bool
	// CanFind is set if the provider implements Find.
	CanFind bool
	// IdempotentCreate is set if a repeated Create with the same token returns the result of the first.
	IdempotentCreate bool
	// Properties lists the resource's properties in declaration order.
	Properties []Property
}

// Describe lists the properties of an object, without descending into nested objects. It reads no field values.
func Describe(o Object) []Property {
	p := newProps(context.Background(), describe, nil)
	o.Lumi(p)
	return p.properties
}

// undeclared reports fields that the object does not declare. In stored bags they are not an error.
func (p *Props) undeclared(o Object) {
	var names, settable []string
	properties := Describe(o)
	for _, property := range properties {
		names = append(names, property.Name)
		if property.Flags&Out == 0 {
			settable = append(settable, property.Name)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(p.fields)) {
		if slices.Contains(names, key) || signed.IsNull(p.fields[key]) {
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

// insteadOf returns the rest of an error message about an unknown property: its new name or a suggestion.
func insteadOf(name string, properties []Property, names []string) string {
	for _, now := range properties {
		if slices.Contains(now.Was, name) {
			return "; it was renamed to " + now.Name
		}
	}
	return didYouMean(name, names)
}

// didYouMean returns the rest of an error message about an unknown name, suggesting a similar one.
func didYouMean(name string, names []string) string {
	near := suggest.Name(name, names)
	if near == "" {
		return ""
	}
	return "; did you mean " + quote(near) + "?"
}
