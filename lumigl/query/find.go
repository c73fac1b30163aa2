package query

import (
	"fmt"
	"strings"

	"github.com/lumi-idl/lumi/internal/suggest"
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
	// Type is the end of the type of so many resources, Typed, if it is one that was asked for, or "".
	Type  string
	Typed int

	example string // a resource's type and name, as one may ask for it; "" in general graphs
}

// maxListed is how many candidates a message names.
const maxListed = 10

// Error lists the candidates, each on a line of its own.
func (e *FindError) Error() string {
	if len(e.Candidates) == 0 {
		return e.nothing()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%q is ambiguous; it matches %d resources:", e.Name, len(e.Candidates))
	for i, v := range e.Candidates {
		if i == maxListed {
			fmt.Fprintf(&b, "\n… and %d more", len(e.Candidates)-i)
			break
		}
		b.WriteString("\n" + v.Key())
	}
	return b.String()
}

// nothing says that there is nothing of a name, and what to write instead.
func (e *FindError) nothing() string {
	text := fmt.Sprintf("no match for %q; ", e.Name)
	switch {
	case e.Type != "":
		are := "resources have"
		if e.Typed == 1 {
			are = "resource has"
		}
		return text + fmt.Sprintf("%d %s that type; to find them, use the expression type.endsWith(%q)", e.Typed, are, e.Type)
	case e.Nearest != "":
		return text + fmt.Sprintf("did you mean %q?", e.Nearest)
	case e.example != "":
		return text + fmt.Sprintf("a KEY is a resource's URN, a suffix of it such as %q, or its name", e.example)
	}
	return text + "a KEY is a vertex's key, or a suffix of it after a colon, slash or dot"
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
		return nil, x.missing(name)
	}
	return nil, &FindError{Name: name, Candidates: parts}
}

// missing is the error for a name that stands for nothing.
func (x *Index) missing(name string) *FindError {
	e := &FindError{Name: name}
	for _, v := range x.vertices {
		if v.Type == "" {
			continue
		}
		if e.example == "" {
			urn := v.URN()
			e.example = string(urn.Type()) + "::" + urn.Name()
		}
		switch end := typeEnd(string(v.Type), name); {
		case end == "":
		case e.Type == "":
			e.Type, e.Typed = end, 1
		case e.Type == end:
			e.Typed++
		}
	}
	if e.Type == "" {
		e.Nearest = x.nearest(name)
	}
	return e
}

// typeEnd returns the end of a type that a name is, with the separator before it, or "" if it is none. Letter case does
// not count.
func typeEnd(token, name string) string {
	at := len(token) - len(name)
	switch {
	case name == "" || at < 0 || !strings.EqualFold(token[at:], name):
		return ""
	case at == 0:
		return token
	case token[at-1] == ':' || token[at-1] == '/':
		return token[at-1:]
	}
	return ""
}

// nearest returns the key, or the resource's name, that is most like a name.
func (x *Index) nearest(name string) string {
	if name == "" {
		return ""
	}
	return suggest.To(name, max(2, len(name)/4), func(yield func(string) bool) {
		for _, v := range x.vertices {
			if !yield(v.Key()) || v.Type != "" && !yield(v.URN().Name()) {
				return
			}
		}
	})
}
