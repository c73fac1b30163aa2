package query

import (
	"fmt"
	"strings"

	"github.com/lumi-idl/lumi/internal/nearest"
	"github.com/lumi-idl/lumi/lumigl"
)

// FindError says why a name stands for no vertex, or for several.
type FindError struct {
	// Name is what was asked for.
	Name string
	// Candidates are what it may stand for, in the order of the graph. If there are none, it stands for nothing.
	Candidates []*lumigl.Vertex
	// Nearest is the name that was probably meant where there are no candidates, or "".
	Nearest string
}

// maxListed is how many candidates a message names.
const maxListed = 10

// Error lists the candidates, each on a line of its own.
func (e *FindError) Error() string {
	if len(e.Candidates) == 0 {
		if e.Nearest != "" {
			return fmt.Sprintf("there is no %q; did you mean %q?", e.Name, e.Nearest)
		}
		return fmt.Sprintf("there is no %q", e.Name)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%q can be any of %d; write more of the one that is meant:", e.Name, len(e.Candidates))
	for i, v := range e.Candidates {
		if i == maxListed {
			fmt.Fprintf(&b, "\n… and %d more", len(e.Candidates)-i)
			break
		}
		b.WriteString("\n" + v.Key())
	}
	return b.String()
}

// Find returns the vertex that a name stands for: its key, or the end of it from some separator on, such as a resource's
// name, or its type and name, as long as that is the end of one key only. Whole parts of URNs come before parts of names.
// The error is a *[FindError].
func (x *Index) Find(name string) (*lumigl.Vertex, error) {
	var parts, ends []*lumigl.Vertex
	for _, v := range x.vertices {
		key := v.Key()
		if key == name {
			return v, nil
		}
		rest, ok := strings.CutSuffix(key, name)
		switch {
		case !ok || name == "":
		case v.Type != "" && strings.HasSuffix(rest, "::"):
			parts = append(parts, v)
		case strings.ContainsRune(":/.", rune(rest[len(rest)-1])):
			ends = append(ends, v)
		}
	}
	if len(parts) == 0 {
		parts = ends
	}
	switch len(parts) {
	case 1:
		return parts[0], nil
	case 0:
		return nil, &FindError{Name: name, Nearest: x.nearest(name)}
	}
	return nil, &FindError{Name: name, Candidates: parts}
}

// nearest returns the key, or the resource's name, that is most like a name.
func (x *Index) nearest(name string) string {
	if name == "" {
		return ""
	}
	return nearest.To(name, max(2, len(name)/4), func(yield func(string) bool) {
		for _, v := range x.vertices {
			if !yield(v.Key()) || v.Type != "" && !yield(v.URN().Name()) {
				return
			}
		}
	})
}
