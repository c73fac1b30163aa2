package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/lumi-idl/lumi/deploy/workspace"
	"github.com/lumi-idl/lumi/internal/suggest"
	"github.com/lumi-idl/lumi/internal/yamltree"
)

// reader reads a file and collects its problems.
type reader struct {
	src      []byte
	problems []workspace.Problem
}

func (r *reader) add(n *yaml.Node, format string, args ...any) {
	r.problems = append(r.problems, workspace.Problem{Line: n.Line, Column: n.Column, Message: fmt.Sprintf(format, args...)})
}

// err returns a *[workspace.Error] with all problems in source order, or nil if there are none.
func (r *reader) err(file string) error {
	if len(r.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(r.problems, func(a, b workspace.Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return &workspace.Error{File: file, Problems: r.problems}
}

// items returns the elements of the list that is the only key of the file.
func (r *reader) items(key string) []*yaml.Node {
	documents, errs := yamltree.Read(r.src)
	for _, e := range errs {
		r.problems = append(r.problems, workspace.Problem{Line: e.Line, Column: e.Column, Message: e.Message})
	}
	switch {
	case len(errs) > 0 || len(documents) == 0:
		return nil
	case len(documents) > 1:
		r.add(documents[1], "unexpected second document")
		return nil
	}
	root := documents[0].Content[0]
	found := r.object(root, "the file", key)
	if found == nil {
		return nil
	}
	return r.list(found[key], key)
}

// object returns the values of an object by key. If n is not an object, it adds a problem and returns nil.
func (r *reader) object(n *yaml.Node, what string, keys ...string) map[string]*yaml.Node {
	if n.Kind != yaml.MappingNode {
		r.add(n, "%s must be an object with the keys %s", what, strings.Join(keys, ", "))
		return nil
	}
	found := map[string]*yaml.Node{}
	for pair := range slices.Chunk(n.Content, 2) {
		if name := pair[0].Value; slices.Contains(keys, name) {
			found[name] = pair[1]
		} else {
			help := "valid keys are " + strings.Join(keys, ", ")
			if near := suggest.Name(name, keys); near != "" {
				help = "did you mean " + near + "?"
			}
			r.add(pair[0], "unknown key %q; %s", name, help)
		}
	}
	return found
}

// list returns the elements of a list. If n is not a list, it adds a problem unless n is nil.
func (r *reader) list(n *yaml.Node, what string) []*yaml.Node {
	switch {
	case n == nil || n.ShortTag() == "!!null":
	case n.Kind != yaml.SequenceNode:
		r.add(n, "%s must be a list", what)
	default:
		return n.Content
	}
	return nil
}

// text returns the text of the key of an object. If it is missing, empty, or not a string, text adds a problem and returns
// "".
func (r *reader) text(object *yaml.Node, found map[string]*yaml.Node, key string) string {
	switch n := found[key]; {
	case n == nil:
		r.add(object, "%s is required", key)
	case n.ShortTag() != "!!str" || strings.TrimSpace(n.Value) == "":
		r.add(n, "%s must be a string", key)
	default:
		return n.Value
	}
	return ""
}
