package graph

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lumi-idl/lumi/internal/suggest"
	"github.com/lumi-idl/lumi/lumigl/expr"
	"github.com/lumi-idl/lumi/lumigl/query"
)

// Answer is the result of [Version.Fulfills].
type Answer struct {
	// Reason explains why the constraint is not satisfied, without a trailing period. It is empty if it is satisfied.
	Reason string
	// Unknown is set if the answer depends on an unknown value.
	Unknown bool
}

// Fulfills reports whether the version satisfies a constraint: it provides a value with the required name and an
// assignable type for which the predicate holds. An invalid predicate is never satisfied. The reason contains no
// secrets.
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

// lacks returns the reason for a missing provided value.
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

// longest is the maximum length, in bytes, of a value in a message.
const longest = 60

// shown returns the start of a message: the quoted name of the value, and the value itself if it is a short scalar and
// not a secret.
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
