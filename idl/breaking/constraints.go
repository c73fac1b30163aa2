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
	switch value := l.value.(type) {
	case bool:
		return l.name
	case string:
		if l.name != "format" {
			return l.name + "='" + strings.ReplaceAll(value, "'", "''") + "'"
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
// findings of that alias. Part is "", or says which part of the values is compared. Counts, if it is not nil, says which
// subjects matter. Constraints do not apply to what a provider returns.
func (c *comparison) compareConstraints(u use, old, new constrained, part string, counts func(subject string) bool) {
	if !u.in {
		return
	}
	a, isRef := old.typ.(*schema.Ref)
	b, isStill := new.typ.(*schema.Ref)
	if isRef && isStill && c.pairs[a.Decl] == b.Decl {
		was, is := limitsBySubject(old.own), limitsBySubject(new.own)
		c.compareLimits(limitsOf(old), limitsOf(new), old.node, new.node, part, func(subject string) bool {
			return !sameLimits(was[subject], is[subject]) // Otherwise it is a finding of the alias.
		})
		return
	}
	was, is := schema.Underlying(old.typ), schema.Underlying(new.typ)
	if reflect.TypeOf(was) != reflect.TypeOf(is) {
		return // part of the finding about the type
	}
	wasLimits, isLimits := limitsOf(old), limitsOf(new)
	switch was := was.(type) {
	case *schema.List:
		c.compareConstraints(u, constrained{was.Elem, nil, old.node}, constrained{is.(*schema.List).Elem, nil, new.node}, " for elements", nil)
	case *schema.Map:
		is := is.(*schema.Map)
		if keys, now := keyPatterns(was.Key, wasLimits), keyPatterns(is.Key, isLimits); sameLimits(keys, now) {
			delete(wasLimits, "keypattern") // It moved to the type of the keys, or from there.
			delete(isLimits, "keypattern")
		} else {
			c.compareConstraints(u, constrained{was.Key, nil, old.node}, constrained{is.Key, nil, new.node}, " for keys", nil)
		}
		c.compareConstraints(u, constrained{was.Elem, nil, old.node}, constrained{is.Elem, nil, new.node}, " for elements", nil)
	case schema.Primitive:
		if was != is {
			return
		}
	}
	c.compareLimits(wasLimits, isLimits, old.node, new.node, part, counts)
}

// limitsOf returns the limits of a type and of what has it.
func limitsOf(t constrained) map[string][]limit {
	return limitsBySubject(schema.ConstraintsOf(t.typ), t.own)
}

// keyPatterns returns the patterns of a map's keys, given their type and the map's limits.
func keyPatterns(key schema.Type, limits map[string][]limit) []limit {
	list := limitsOf(constrained{typ: key})["pattern"]
	for _, l := range limits["keypattern"] {
		list = append(list, limit{"pattern", l.value})
	}
	return list
}

// sameLimits reports whether two lists limit values in the same way.
func sameLimits(a, b []limit) bool {
	lacks := func(list []limit) func(limit) bool { return func(l limit) bool { return !l.impliedBy(list) } }
	return !slices.ContainsFunc(a, lacks(b)) && !slices.ContainsFunc(b, lacks(a))
}

// reaches returns a function that reports whether a change of an alias, as to one subject, changes which values some use
// of it accepts. The constraints of a property itself may be tighter before and after.
func (c *comparison) reaches(old, new *schema.Alias) func(subject string) bool {
	is := func(t schema.Type) bool { ref, ok := t.(*schema.Ref); return ok && ref.Decl == old }
	return func(subject string) bool {
		used := false
		for d := range c.old.Package.Decls() {
			var rest []schema.Type // whose own constraints are about something else
			if a, ok := d.(*schema.Alias); ok {
				rest = append(rest, a.Target)
			}
			for _, p := range schema.Properties(d) {
				m, isMap := p.Type.(*schema.Map)
				var in func(a *schema.Alias, own *schema.Constraints) []limit
				switch {
				case is(p.Type):
					in = func(a *schema.Alias, own *schema.Constraints) []limit {
						return limitsBySubject(a.Constraints, own)[subject]
					}
				case isMap && is(m.Key) && subject == "pattern":
					rest = append(rest, m.Elem)
					in = func(a *schema.Alias, own *schema.Constraints) []limit {
						return keyPatterns(&schema.Ref{Decl: a}, limitsBySubject(own))
					}
				default:
					rest = append(rest, p.Type)
					continue
				}
				used = true
				q := c.successor(property{p, d})
				if q == nil {
					continue
				}
				now := in(new, q.Constraints)
				// What the property's own constraints make of it is a finding of the property.
				if !sameLimits(in(old, p.Constraints), now) && !sameLimits(in(old, q.Constraints), now) {
					return true
				}
			}
			for _, t := range rest {
				for ref := range schema.Refs(t) {
					if ref.Decl == old {
						return true
					}
				}
			}
		}
		return !used
	}
}

// successor returns the property that an old one has become, by its name or the option was=, or nil.
func (c *comparison) successor(p property) *schema.Property {
	if now := c.pairs[p.of]; now != nil {
		for _, q := range schema.Properties(now) {
			if q.Name == p.Name || slices.Contains(q.Was, p.Name) {
				return q
			}
		}
	}
	return nil
}

// compareLimits reports changes of limits. Counts, if it is not nil, says which subjects matter.
func (c *comparison) compareLimits(old, new map[string][]limit, at, now node, part string, counts func(subject string) bool) {
	for _, subject := range subjects {
		a, b := old[subject], new[subject]
		if sameLimits(a, b) || counts != nil && !counts(subject) {
			continue
		}
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
			"no longer has a default, so it can be absent")
	case old.Secret || new.Secret:
		c.report("DefaultChanged", Impact{Deployed: Breaks}, old.node(), new.node(), "keep the default", "has a different default")
	default:
		c.report("DefaultChanged", Impact{Deployed: Breaks}, old.node(), new.node(), "keep the default",
			"has the default %s (was %s)", text(new.Default), text(old.Default))
	}
}

// reportDefaultAdded reports a default that resources get which exist. Where the property replaces, that replaces them.
func (c *comparison) reportDefaultAdded(old node, new property, update Severity) {
	if replaces, through := c.replaces(new); replaces {
		c.report("DefaultAdded", Impact{Deployed: Breaks}, old, new.node(), "let the provider choose a value",
			"has a new default, so the next change to a resource without the property replaces it%s", through)
		return
	}
	c.report("DefaultAdded", Impact{Deployed: update}, old, new.node(), "",
		"has a new default, which the next change to a resource without the property applies")
}
