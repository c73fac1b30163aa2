package lumi

import (
	"context"
	"maps"
	"slices"

	"github.com/lumi-idl/lumi/internal/suggest"
	"github.com/lumi-idl/lumi/runtime/internal/signed"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

// Description is what the IDL and the author of the provider say about a type of resource.
type Description struct {
	Type tokens.Type
	// Named says that programs name the resources.
	Named bool
	// CanFind says that the provider can Find a resource.
	CanFind bool
	// IdempotentCreate says that a Create with a token that is known returns what the first one made.
	IdempotentCreate bool
	// Properties are those of the resource, in the order of the IDL.
	Properties []Property
}

// Describe lists the properties of an object, without those of other objects inside. It reads no field.
func Describe(o Object) []Property {
	p := newProps(context.Background(), describe, nil)
	o.Lumi(p)
	return p.properties
}

// undeclared reports the fields that the object does not have. Those that were stored are no fault.
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

// insteadOf completes a message about a name that no property has.
func insteadOf(name string, properties []Property, names []string) string {
	for _, now := range properties {
		if slices.Contains(now.Was, name) {
			return "; it was renamed to " + now.Name
		}
	}
	return didYouMean(name, names)
}

// didYouMean completes a message about a name that is none of the names, if one of them was probably meant.
func didYouMean(name string, names []string) string {
	near := suggest.Name(name, names)
	if near == "" {
		return ""
	}
	return "; did you mean " + quote(near) + "?"
}
