package graph

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lumi-idl/lumi/internal/suggest"
	"github.com/lumi-idl/lumi/lumigl/expr"
	"github.com/lumi-idl/lumi/lumigl/query"
)

// Answer is whether a version fulfills a constraint.
type Answer struct {
	// Reason is why it does not, without a full stop. It is empty if it does.
	Reason string
	// Unknown is set if that depends on a value which is not known yet.
	Unknown bool
}

// Fulfills reports whether the version fulfills a constraint: whether it provides a value under the name, whose type is
// assignable, and for which the predicate is true. The reason contains no secrets. It also tells of a predicate that is
// not valid, which is an error of the program that has the constraint.
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

// lacks says that the version provides nothing under a name.
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

// mismatch says why the value cannot be used as a type, or returns "".
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

// longest is how many bytes of a value a message has at most.
const longest = 60

// shown returns the name of the value, with the value itself if that is simple, short, and not a secret.
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
