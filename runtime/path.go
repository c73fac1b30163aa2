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

// Path locates a value in a [Bag]. Examples are "securityGroupIngress[2].fromPort", "tags.Name", and `tags["cost center"]`.
// The generated constants for property names are paths.
type Path string

// Field returns the path of a property of the struct at p.
func (p Path) Field(name string) Path {
	if p == "" {
		return Path(name)
	}
	return p + "." + Path(name)
}

// Index returns the path of element i of the list at p.
func (p Path) Index(i int) Path { return p + "[" + Path(strconv.Itoa(i)) + "]" }

// Key returns the path of an entry of the map at p, or of a field of an object in an any. If key is a valid property
// name, the result is the same as that of Field.
func (p Path) Key(key string) Path {
	if isName(key) {
		return p.Field(key)
	}
	return p + "[" + Path(constraint.Quote(key)) + "]"
}

// isName reports whether s is a valid property name.
func isName(s string) bool {
	for i, r := range s {
		if r != '_' && r != '$' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return false
		}
	}
	return s != ""
}

// Holds reports whether other is p or below p.
func (p Path) Holds(other Path) bool {
	rest, ok := strings.CutPrefix(string(other), string(p))
	return ok && (rest == "" || p == "" || rest[0] == '.' || rest[0] == '[')
}

// Paths is a set of paths. A nil Paths is empty and can be read.
type Paths map[Path]struct{}

// Has reports whether the set contains p or a parent of p.
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

// containers yields all parents of p, starting with the empty path, and then p.
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

// Within reports whether the set contains p, a path below p, or a parent of p.
func (s Paths) Within(p Path) bool {
	for other := range s {
		if p.Holds(other) || other.Holds(p) {
			return true
		}
	}
	return false
}

// around returns a set of the paths in s and all their parents.
func (s Paths) around() Paths {
	var all Paths
	for p := range s {
		for outer := range p.containers {
			all = all.add(outer)
		}
	}
	return all
}

// Sorted returns the paths in sorted order.
func (s Paths) Sorted() []Path { return slices.Sorted(maps.Keys(s)) }

// add returns the set with p added, allocating it if necessary.
func (s Paths) add(p Path) Paths {
	if s == nil {
		s = Paths{}
	}
	s[p] = struct{}{}
	return s
}

// step is one step of a path.
type step struct {
	name  string // for a field or key
	index int    // of a list element, or fieldStep or keyStep
}

// Values of step.index for steps other than list elements.
const (
	fieldStep = -1 - iota
	keyStep
)

// isElement reports whether the step is a list element, or a map key that paths write in brackets.
func (s step) isElement() bool { return s.index >= 0 || s.index == keyStep && !isName(s.name) }

// render returns the path with the given steps. It omits keys at index hidden and above, since they are part of a secret.
// If show is not nil, it formats the other keys.
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

// append appends the step to path p, without its key if hidden is set.
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
