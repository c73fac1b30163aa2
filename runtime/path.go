package lumi

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Path says where in a bag of properties a value stands, such as "securityGroupIngress[2].fromPort", tags.Name or
// `tags["cost center"]`. The constants that are generated for the names of properties are paths as they are.
type Path string

// Field is the path of a property of the struct at p.
func (p Path) Field(name string) Path {
	if p == "" {
		return Path(name)
	}
	return p + "." + Path(name)
}

// Index is the path of an element of the list at p.
func (p Path) Index(i int) Path { return p + "[" + Path(strconv.Itoa(i)) + "]" }

// Key is the path of an element of the map, or of the object in an any, at p. It looks like that of a property where
// the key could be the name of one.
func (p Path) Key(key string) Path {
	if isName(key) {
		return p.Field(key)
	}
	return p + "[" + Path(strconv.Quote(key)) + "]"
}

// isName reports whether a property can have the name.
func isName(s string) bool {
	for i, r := range s {
		if r != '_' && r != '$' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return false
		}
	}
	return s != ""
}

// property is the name of the property that the path starts with.
func (p Path) property() string {
	if i := strings.IndexAny(string(p), ".["); i >= 0 {
		return string(p[:i])
	}
	return string(p)
}

// Holds reports whether other is p itself or a part of what stands at p.
func (p Path) Holds(other Path) bool {
	rest, ok := strings.CutPrefix(string(other), string(p))
	return ok && (rest == "" || p == "" || rest[0] == '.' || rest[0] == '[')
}

// Paths is a set of paths. The nil set is empty and can be read.
type Paths map[Path]struct{}

// Has reports whether the value at p as a whole is in the set, by itself or as a part of something that is.
func (s Paths) Has(p Path) bool {
	if _, ok := s[p]; ok || len(s) == 0 {
		return ok
	}
	for i := range p {
		if i == 0 || p[i] == '.' || p[i] == '[' {
			if _, ok := s[p[:i]]; ok {
				return true
			}
		}
	}
	return false
}

// Within reports whether the value at p, or any part of it, is in the set.
func (s Paths) Within(p Path) bool {
	for other := range s {
		if p.Holds(other) || other.Holds(p) {
			return true
		}
	}
	return false
}

// Sorted lists the paths in order.
func (s Paths) Sorted() []Path { return slices.Sorted(maps.Keys(s)) }

// has reports whether the value that a walk is at is in the set, by itself.
func (s Paths) has(p *Props) bool {
	if len(s) == 0 {
		return false
	}
	_, ok := s[p.here()]
	return ok
}

// add returns the set with p in it, made if need be.
func (s Paths) add(p Path) Paths {
	if s == nil {
		s = Paths{}
	}
	s[p] = struct{}{}
	return s
}

// step is one part of the path that a walk has come.
type step struct {
	name  string // of a field or key
	index int    // of an element of a list, or what else the step leads to
}

// What steps lead to but for elements of lists.
const (
	fieldStep = -1 - iota
	keyStep
)

// render makes a path of steps. From the step number hidden on, keys are left out of it: they belong to a secret. Other
// keys appear as show has them, if it is not nil.
func render(steps []step, hidden int, show func(key string) string) Path {
	if len(steps) == 1 && steps[0].index == fieldStep {
		return Path(steps[0].name)
	}
	var p Path
	for i, s := range steps {
		switch {
		case s.index == fieldStep:
			p = p.Field(s.name)
		case s.index >= 0:
			p = p.Index(s.index)
		case i >= hidden:
			p += "[…]"
		case show != nil:
			p = p.Key(show(s.name))
		default:
			p = p.Key(s.name)
		}
	}
	return p
}
