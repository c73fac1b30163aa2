package muranopl

import (
	"maps"
	"slices"
)

// Resolver finds classes.
type Resolver interface {
	// Resolve returns the class of a full name, such as io.murano.Object, or nil if there is none. Classes of one name are
	// resolved once.
	Resolve(name string) (*Declaration, error)
}

// Declaration is a class before it is loaded.
type Declaration struct {
	// Name is the full name.
	Name string
	// Tree has the keys of the class: Extends, Properties, Methods and so on.
	Tree *Node
	// Namespaces are the prefixes of names in Tree. They override those of the tree, if it has any, and may be nil.
	Namespaces *Node
	// Native are the methods in Go, by name. Tree declares their arguments.
	Native map[string]Native
	// Transient leaves objects of the class and its descendants out of saved models.
	Transient bool
}

// Resolvers finds a class in the first resolver that has it.
type Resolvers []Resolver

// Resolve implements [Resolver].
func (r Resolvers) Resolve(name string) (*Declaration, error) {
	for _, one := range r {
		if d, err := one.Resolve(name); d != nil || err != nil {
			return d, err
		}
	}
	return nil, nil
}

// Declarations are classes by their full names.
type Declarations map[string]*Declaration

// Resolve implements [Resolver].
func (d Declarations) Resolve(name string) (*Declaration, error) { return d[name], nil }

// Names returns the names in order.
func (d Declarations) Names() []string { return slices.Sorted(maps.Keys(d)) }

// Names returns the names of the resolvers that have such a method.
func (r Resolvers) Names() []string {
	var names []string
	for _, one := range r {
		if named, ok := one.(interface{ Names() []string }); ok {
			names = append(names, named.Names()...)
		}
	}
	return names
}
