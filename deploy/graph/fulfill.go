package graph

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lumi-idl/lumi/internal/suggest"
	"github.com/lumi-idl/lumi/lumigl/expr"
	"github.com/lumi-idl/lumi/lumigl/query"
)

// Answer reports whether a version satisfies a constraint.
type Answer struct {
	// Reason is why it does not, without a full stop; empty if it does.
	Reason string
	// Unknown is set if the answer depends on a value that is not known yet.
	Unknown bool
}

// Fulfills reports whether the version satisfies a constraint: it provides a value of that name and of an assignable
// type, and the predicate holds. The reason contains no secrets. An invalid predicate, an error in the using program,
// also counts as a reason.
func (v *Version) Fulfills(c Constraint) Answer {
	p := v.Provided(c.Name)
	if p == nil {
		return Answer{Reason: v.lacks(c.Name)}
	}
	if reason := p.mismatch(c.Type); reason != "" {
		return Answer{Reason: reason}
	}
	if c.Where == "" {
		return Answer{}
	}
	predicate, err := query.CompilePredicate(c.Where)
	if err != nil {
		lines := strings.ReplaceAll(err.Error(), "\n", "; ")
		return Answer{Reason: fmt.Sprintf("invalid predicate for %q: %s", c.Name, lines)}
	}
	if !p.Result.Exists() || !expr.IsKnown(p.Result) {
		return Answer{Unknown: true}
	}
	switch holds, err := predicate.Holds(p.Result); {
	case err != nil:
		return Answer{Reason: fmt.Sprintf("cannot evaluate the predicate for %q: %s: %v", c.Name, c.Where, err)}
	case !holds:
		return Answer{Reason: fmt.Sprintf("%s does not satisfy the predicate %s", p.shown(), c.Where)}
	}
	return Answer{}
}

// lacks returns the reason for a missing name.
func (v *Version) lacks(name string) string {
	var names []string
	for _, p := range v.Outputs() {
		names = append(names, p.Name)
	}
	reason := fmt.Sprintf("%q is not provided", name)
	if near := suggest.Name(name, names); near != "" {
		reason += fmt.Sprintf(" (did you mean %q?)", near)
	}
	return reason
}

// mismatch explains why the value is not assignable to a type, or returns "".
func (p *Provided) mismatch(wanted Type) string {
	d := p.Type.differs(wanted, false)
	if d == nil {
		return ""
	}
	reason := fmt.Sprintf("%q is %s, not %s", p.Name, p.Type, wanted)
	if d.path != "" {
		reason += ": " + d.Error()
	}
	return reason
}

// longest limits the length of a value in messages, in bytes.
const longest = 60

// shown returns the name of the value, and the value itself if it is a short scalar and not a secret.
func (p *Provided) shown() string {
	text, _ := p.Result.Literal()
	if s, ok := p.Result.Text(); ok {
		text = strconv.Quote(s)
	} else if b, ok := p.Result.Bool(); ok {
		text = strconv.FormatBool(b)
	}
	if text == "" || len(text) > longest {
		return strconv.Quote(p.Name)
	}
	return fmt.Sprintf("%q is %s, which", p.Name, text)
}
