package query

import (
	"fmt"
	"strings"

	"github.com/lumi-idl/lumi/internal/suggest"
	"github.com/lumi-idl/lumi/lumigl"
)

// FindError reports that a name matches no vertex or several.
type FindError struct {
	// Name is the name that was looked up.
	Name string
	// Candidates lists the matches in graph order.
	Candidates []*lumigl.Vertex
	// Nearest is a similar name to suggest, or "". It is set only if there are no candidates.
	Nearest string
	// Type is the suffix of resource types that the name matches, or "". Typed is the number of resources with such a
	// type.
	Type  string
	Typed int

	example string // example of a type and name to look up, "" for general graphs
}

// maxListed limits the number of candidates listed in a message.
const maxListed = 10

// Error returns the message and lists the candidates, one per line.
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

// nothing returns the message for a name without matches.
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

// Find returns the vertex with the given key, or else the only vertex whose key ends with name after a separator. For
// example, name may be the name of a resource, or its type and name. Matches of whole URN parts take precedence over
// matches within a name. Any error is of type *[FindError].
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

// missing returns the error for a name without matches, with suggestions.
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

// typeEnd returns the suffix of a type token that equals name ignoring case, including the separator before it, or "".
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

// nearest returns the key or resource name most similar to name, or "".
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
