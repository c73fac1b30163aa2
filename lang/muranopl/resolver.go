package muranopl

import (
	"maps"
	"slices"
)

// Resolve implements [Resolver].
func (r Resolvers) Resolve(name string) (*Declaration, error) {
	for _, one := range r {
		if d, err := one.Resolve(name); d != nil || err != nil {
			return d, err
		}
	}
	return nil, nil
}

// Declarations contains classes by full name.
type Declarations map[string]*Declaration

// Resolve implements [Resolver].
func (d Declarations) Resolve(name string) (*Declaration, error) { return d[name], nil }

// Names returns the sorted class names.
func (d Declarations) Names() []string { return slices.Sorted(maps.Keys(d)) }

// Names returns the class names of all resolvers that have a method Names.
func (r Resolvers) Names() []string {
	var names []string
	for _, one := range r {
		if named, ok := one.(interface{ Names() []string }); ok {
			names = append(names, named.Names()...)
		}
	}
	return names
}
