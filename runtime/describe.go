package lumi

import (
	"context"
	"maps"
	"slices"

	"github.com/lumi-idl/lumi/internal/suggest"
	"github.com/lumi-idl/lumi/runtime/internal/special"
)

// Property describes one property of an object.
type Property struct {
	// Name is the property's name on the wire.
	Name string
	// Flags are its options.
	Flags Flags
	// Required says that a complete bag has it.
	Required bool
}

// Describe lists the properties of an object, without those of other objects inside. It reads no field.
func Describe(o Object) []Property {
	p := newProps(context.Background(), describe, nil)
	o.Lumi(p)
	return p.properties
}

// undeclared reports the fields that the object does not have.
func (p *Props) undeclared(o Object) {
	var names []string
	for _, property := range Describe(o) {
		names = append(names, property.Name)
	}
	for _, key := range slices.Sorted(maps.Keys(p.fields)) {
		if slices.Contains(names, key) || special.IsNull(p.fields[key]) {
			continue
		}
		if p.isHidden() {
			p.fault("has a property that does not exist")
			continue
		}
		if p.push(step{name: key, index: keyStep}) {
			p.fault("no such property%s", didYouMean(key, names))
			p.pop()
		}
	}
}

// didYouMean completes a message about a name that is none of the names, if one of them was probably meant.
func didYouMean(name string, names []string) string {
	near := suggest.Name(name, names)
	if near == "" {
		return ""
	}
	return "; did you mean " + quote(near) + "?"
}
