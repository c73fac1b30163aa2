// Package low has a folder with a dash, which other folders import.
package low

// A Route is a route.
type Route struct {
	Kind Kind
}

// A Kind is a kind.
type Kind string

// KindDirect is the only kind.
const KindDirect Kind = "direct"
