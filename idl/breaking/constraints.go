package breaking

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/idl/schema"
)

// limit is a constraint: its name in a tag and its value.
type limit struct {
	name  string
	value any
}

// String returns the option of a tag.
func (l limit) String() string {
	switch l.value.(type) {
	case bool:
		return l.name
	case string:
		if l.name != "format" {
			return fmt.Sprintf("%s='%v'", l.name, l.value)
		}
	}
	return fmt.Sprintf("%s=%v", l.name, l.value)
}

// number is the value of a limit to numbers or counts.
func (l limit) number() float64 {
	if n, ok := l.value.(int); ok {
		return float64(n)
	}
	n, _ := l.value.(float64)
	return n
}

// subject returns what the constraint is about. Only constraints of one subject can follow from each other.
func (l limit) subject() string { return strings.ToLower(strings.TrimPrefix(l.name, "exclusive")) }

// implies reports whether each value that satisfies l satisfies m, which is about the same.
func (l limit) implies(m limit) bool {
	a, b := l.number(), m.number()
	switch subject := l.subject(); {
	case l == m:
		return true
	case subject == "multipleof":
		return math.Abs(a/b-math.Round(a/b)) < 1e-9 && math.Round(a/b) > 0
	case strings.HasPrefix(subject, "max"):
		a, b = -a, -b
	case !strings.HasPrefix(subject, "min"):
		return false
	}
	return a > b || a == b && (l.name == m.name || strings.HasPrefix(l.name, "exclusive"))
}

// impliedBy reports whether the limit follows from one of a list.
func (l limit) impliedBy(list []limit) bool {
	return slices.ContainsFunc(list, func(other limit) bool { return other.implies(l) })
}

// limitsBySubject returns the constraints in force where all of the lists apply.
func limitsBySubject(lists ...*schema.Constraints) map[string][]limit {
	all := map[string][]limit{}
	for _, list := range lists {
		for name, value := range list.All() {
			l := limit{name, value}
			subject := l.subject()
			if l.value == 0 && strings.HasPrefix(subject, "min") || l.impliedBy(all[subject]) {
				continue
			}
			all[subject] = append(slices.DeleteFunc(all[subject], l.implies), l)
		}
	}
	return all
}

// subjects has the subject of each constraint, in the order of the fields.
var subjects = func() (list []string) {
	for f := range reflect.TypeFor[schema.Constraints]().Fields() {
		if subject := (limit{name: f.Name}).subject(); !slices.Contains(list, subject) {
			list = append(list, subject)
		}
	}
	return list
}()

// constrained is a type together with constraints of its own, and where it is.
type constrained struct {
	typ  schema.Type
	own  *schema.Constraints
	node node
}

// compareConstraints compares what constrains the values of two types. Constraints of an alias that is used in both are
// findings of that alias. Part is "", or says which part of the values is compared. Constraints do not apply to what a
// provider returns.
func (c *comparison) compareConstraints(u use, old, new constrained, part string) {
	if !u.in {
		return
	}
	a, isRef := old.typ.(*schema.Ref)
	b, isStill := new.typ.(*schema.Ref)
	if isRef && isStill && c.pairs[a.Decl] == b.Decl {
		c.compareLimits(limitsBySubject(old.own), limitsBySubject(new.own), old.node, new.node, part)
		return
	}
	was, is := schema.Underlying(old.typ), schema.Underlying(new.typ)
	if reflect.TypeOf(was) != reflect.TypeOf(is) {
		return // part of the finding about the type
	}
	limits := func(t constrained) map[string][]limit { return limitsBySubject(schema.ConstraintsOf(t.typ), t.own) }
	switch was := was.(type) {
	case *schema.List:
		c.compareConstraints(u, constrained{was.Elem, nil, old.node}, constrained{is.(*schema.List).Elem, nil, new.node}, " for elements")
	case *schema.Map:
		is := is.(*schema.Map)
		c.compareConstraints(u, constrained{was.Key, nil, old.node}, constrained{is.Key, nil, new.node}, " for keys")
		c.compareConstraints(u, constrained{was.Elem, nil, old.node}, constrained{is.Elem, nil, new.node}, " for elements")
	case schema.Primitive:
		if was != is {
			return
		}
	}
	c.compareLimits(limits(old), limits(new), old.node, new.node, part)
}

func (c *comparison) compareLimits(old, new map[string][]limit, at, now node, part string) {
	for _, subject := range subjects {
		a, b := old[subject], new[subject]
		added := slices.ContainsFunc(b, func(l limit) bool { return !l.impliedBy(a) })
		removed := slices.ContainsFunc(a, func(l limit) bool { return !l.impliedBy(b) })
		refused, accepted := Impact{MayBreak, None, MayBreak, MayBreak}, Impact{Provider: MayBreak}
		switch {
		case added && len(a) == 0:
			c.report("ConstraintAdded", refused, at, now, "check it in the provider, and only for new resources",
				"has the new constraint %s%s", textOf(b), part)
		case removed && len(b) == 0:
			c.report("ConstraintRemoved", accepted, at, now, "", "no longer has the constraint %s%s", textOf(a), part)
		case added && removed:
			c.report("ConstraintChanged", Impact{MayBreak, MayBreak, MayBreak, MayBreak}, at, now, "keep the constraint",
				"has the constraint %s%s (was %s)", textOf(b), part, textOf(a))
		case added:
			c.report("ConstraintTightened", refused, at, now, "keep the constraint",
				"has the constraint %s%s, which fewer values satisfy (was %s)", textOf(b), part, textOf(a))
		case removed:
			c.report("ConstraintLoosened", accepted, at, now, "",
				"has the constraint %s%s, which more values satisfy (was %s)", textOf(b), part, textOf(a))
		}
	}
}

func textOf(list []limit) string {
	var texts []string
	for _, l := range list {
		texts = append(texts, l.String())
	}
	return strings.Join(texts, " and ")
}

// compareDefaults compares what an optional property is where a program does not set it.
func compareDefaults(c *comparison, old, new property) {
	text := func(value any) string {
		if s, ok := value.(string); ok {
			return fmt.Sprintf("%q", s)
		}
		return fmt.Sprint(value)
	}
	switch {
	case old.Default == new.Default || !c.useOfProperty(old).in || !new.Optional || !old.Optional:
		// What was or became required is set, or part of another finding.
	case old.Default == nil:
		c.reportDefaultAdded(old.node(), new, MayBreak)
	case new.Default == nil:
		c.report("DefaultRemoved", Impact{Provider: MayBreak, Deployed: Breaks}, old.node(), new.node(), "keep the default",
			"no longer has a default, so that it can be absent")
	case old.Secret || new.Secret:
		c.report("DefaultChanged", Impact{Deployed: Breaks}, old.node(), new.node(), "keep the default", "has another default")
	default:
		c.report("DefaultChanged", Impact{Deployed: Breaks}, old.node(), new.node(), "keep the default",
			"has the default %s (was %s)", text(new.Default), text(old.Default))
	}
}

// reportDefaultAdded reports a default that resources get which exist. Where the property replaces, that replaces them.
func (c *comparison) reportDefaultAdded(old node, new property, update Severity) {
	if new.Replaces {
		c.report("DefaultAdded", Impact{Deployed: Breaks}, old, new.node(), "let the provider choose a value",
			"has a new default, so that the next change of a resource without the property replaces it")
		return
	}
	c.report("DefaultAdded", Impact{Deployed: update}, old, new.node(), "",
		"has a new default, which the next change of a resource without the property applies")
}
