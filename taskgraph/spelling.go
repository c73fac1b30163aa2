package taskgraph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/internal/suggest"
)

// spellings lists, by attribute, the other spellings accepted by Fuel. Parsed tasks have only the canonical names.
var spellings = map[string][]string{
	"roles": {"role"}, "required_for": {"required-for"}, "cross_depends": {"cross-depends"}, "cross_depended_by": {"cross-depended-by"},
	"reexecute_on": {"reexecute-on", "re_execute_on", "re-execute_on", "re-execute-on"},
}

// idKeys lists the keys of tasks that are not attributes.
var idKeys = []string{"id", "_id", "_warnings"}

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
