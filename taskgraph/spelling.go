package taskgraph

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/lumi-idl/lumi/internal/suggest"
)

// spellings lists, by attribute, the other spellings accepted by Fuel. Parsed tasks have only the canonical names.
var spellings = map[string][]string{
	"roles": {"role"}, "required_for": {"required-for"}, "cross_depends": {"cross-depends"}, "cross_depended_by": {"cross-depended-by"},
	"reexecute_on": {"reexecute-on", "re_execute_on", "re-execute_on", "re-execute-on"},
}

// canonical returns the object n with canonical attribute names. It records the synonyms, and reports attributes that
// are given in two spellings.
func (p *parser) canonical(n *yaml.Node) *yaml.Node {
	task, first := *n, map[string]*yaml.Node{}
	task.Content = slices.Clone(n.Content)
	for i := 0; i < len(task.Content); i += 2 {
		key, name := task.Content[i], task.Content[i].Value
		for attribute, others := range spellings {
			if slices.Contains(others, key.Value) {
				renamed := *key
				name, renamed.Value = attribute, attribute
				task.Content[i] = &renamed
				p.Synonyms = append(p.Synonyms, Synonym{p.Task, key.Value, name, key.Line, key.Column})
			}
		}
		if other := first[name]; other == nil {
			first[name] = key
		} else if p.Attribute = name; other.Value != key.Value { // yamltree reports equal keys
			p.Fail(key, "%s and %s are the same attribute; use only one of them", other.Value, key.Value)
		}
	}
	return &task
}

// Synonym is another spelling of an attribute, found in a file.
type Synonym struct {
	Task, Spelling, Attribute string
	Line, Column              int
}

// Problem returns the error that reports the synonym where only canonical names are accepted.
func (s Synonym) Problem() Problem {
	return Problem{
		Task: s.Task, Attribute: s.Attribute, Line: s.Line, Column: s.Column, Message: fmt.Sprintf("%s is a synonym; use %s", s.Spelling, s.Attribute),
	}
}

var withoutDashes = strings.NewReplacer("-", "", "_", "")

// misspelled returns the name that key misspells by one letter or by the use of - and _, or "". A key at the path ""
// may also misspell another spelling of a name.
func misspelled(path, key string, names []string) string {
	key = withoutDashes.Replace(key)
	for _, name := range names {
		all := []string{name}
		if path == "" {
			all = append(all, spellings[name]...)
		}
		isNear := func(spelling string) bool { return suggest.Distance(key, withoutDashes.Replace(spelling)) <= 1 }
		if !slices.Contains(idKeys, name) && slices.ContainsFunc(all, isNear) {
			return name
		}
	}
	return ""
}
