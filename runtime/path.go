package lumi

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/lumi-idl/lumi/internal/constraint"
	"github.com/lumi-idl/lumi/runtime/wire"
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
	return p + "[" + Path(constraint.Quote(key)) + "]"
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

// Holds reports whether other is p itself or a part of what stands at p.
func (p Path) Holds(other Path) bool {
	rest, ok := strings.CutPrefix(string(other), string(p))
	return ok && (rest == "" || p == "" || rest[0] == '.' || rest[0] == '[')
}

// Paths is a set of paths. The nil set is empty and can be read.
type Paths map[Path]struct{}

// Has reports whether p, or a path that contains p, is in the set.
func (s Paths) Has(p Path) bool {
	if len(s) == 0 {
		return false
	}
	for outer := range p.containers {
		if _, ok := s[outer]; ok {
			return true
		}
	}
	return false
}

// containers yields the paths that contain p, the empty one first and p last.
func (p Path) containers(yield func(Path) bool) {
	if p != "" && !yield("") {
		return
	}
	end := 0
	for _, part := range wire.PathParts(string(p)) {
		if end += len(part); !yield(p[:end]) {
			return
		}
	}
}

// Within reports whether p, a part of it, or a path that contains p, is in the set.
func (s Paths) Within(p Path) bool {
	for other := range s {
		if p.Holds(other) || other.Holds(p) {
			return true
		}
	}
	return false
}

// around returns the paths in the set and all that contain one.
func (s Paths) around() Paths {
	var all Paths
	for p := range s {
		for outer := range p.containers {
			all = all.add(outer)
		}
	}
	return all
}

// Sorted lists the paths in order.
func (s Paths) Sorted() []Path { return slices.Sorted(maps.Keys(s)) }

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

// isElement reports whether the step leads to an element of a list. It may err on the side of a map's key.
func (s step) isElement() bool { return s.index >= 0 || s.index == keyStep && !isName(s.name) }

// render makes a path of steps. From the step number hidden on, keys are left out of it: they belong to a secret. Other
// keys appear as show has them, if it is not nil.
func render(steps []step, hidden int, show func(key string) string) Path {
	if len(steps) == 1 && steps[0].index == fieldStep {
		return Path(steps[0].name)
	}
	size := 0
	for _, s := range steps {
		size += len(s.name) + len(`[""]`)
	}
	p := make([]byte, 0, size)
	for i, s := range steps {
		if s.index == keyStep && show != nil {
			s.name = show(s.name)
		}
		p = s.append(p, i >= hidden)
	}
	return Path(p)
}

// append adds the step to the path so far.
func (s step) append(p []byte, hidden bool) []byte {
	switch {
	case s.index >= 0:
		return append(strconv.AppendInt(append(p, '['), int64(s.index), 10), ']')
	case s.index == keyStep && hidden:
		return append(p, "[…]"...)
	case s.index == keyStep && !isName(s.name):
		return append(constraint.AppendQuote(append(p, '['), s.name), ']')
	case len(p) > 0:
		p = append(p, '.')
	}
	return append(p, s.name...)
}
