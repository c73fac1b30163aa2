package breaking

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/idl/equality"
	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/internal/constraint"
)

// limit is a single constraint: its name and its value.
type limit struct {
	name  string
	value any
}

// String formats the constraint as a tag option.
func (l limit) String() string {
	switch value := l.value.(type) {
	case bool:
		return l.name
	case string:
		if l.name != "format" && l.name != "equal" {
			return l.name + "='" + strings.ReplaceAll(value, "'", "''") + "'"
		}
	}
	return fmt.Sprintf("%s=%v", l.name, l.value)
}

// number returns the value of a numeric constraint.
func (l limit) number() float64 {
	if n, ok := l.value.(int); ok {
		return float64(n)
	}
	n, _ := l.value.(float64)
	return n
}

// subject returns the quantity that l limits, such as "min" for both min and exclusiveMin. Only constraints on the same
// subject can imply each other.
func (l limit) subject() string { return strings.ToLower(strings.TrimPrefix(l.name, "exclusive")) }

// implies reports whether every value that satisfies l also satisfies m. Both must have the same subject.
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

// impliedBy reports whether any limit in list implies l.
func (l limit) impliedBy(list []limit) bool {
	return slices.ContainsFunc(list, func(other limit) bool { return other.implies(l) })
}

// limitsBySubject merges the constraints in lists and groups them by subject, dropping those implied by others.
func limitsBySubject(lists ...*schema.Constraints) map[string][]limit {
	all := map[string][]limit{}
	for _, list := range lists {
		for name, value := range list.All() {
			l := limit{name, value}
			subject := l.subject()
			if name == "says" { // only the wording of messages
				continue
			}
			if l.value == 0 && strings.HasPrefix(subject, "min") || l.impliedBy(all[subject]) {
				continue
			}
			all[subject] = append(slices.DeleteFunc(all[subject], l.implies), l)
		}
	}
	return all
}

// subjects lists every subject once, in the order of the fields of [schema.Constraints].
var subjects = func() (list []string) {
	for f := range reflect.TypeFor[schema.Constraints]().Fields() {
		if subject := (limit{name: f.Name}).subject(); !slices.Contains(list, subject) {
			list = append(list, subject)
		}
	}
	return list
}()

// constrained is a type together with the constraints and position of its use.
type constrained struct {
	typ  schema.Type
	own  *schema.Constraints
	node node
}

// compareConstraints reports changed constraints between two types. If both refer to the same alias, changes to the
// alias's own constraints are reported at the alias instead. Part describes the compared part of the value in messages
// and may be empty. Counts selects the subjects to compare; nil selects all. Output-only values are not compared, since
// constraints apply only to inputs.
func (c *comparison) compareConstraints(u use, old, new constrained, part string, counts func(subject string) bool) {
	if !u.in {
		return
	}
	a, isRef := old.typ.(*schema.Ref)
	b, isStill := new.typ.(*schema.Ref)
	if isRef && isStill && c.pairs[a.Decl] == b.Decl {
		was, is := limitsBySubject(old.own), limitsBySubject(new.own)
		c.compareLimits(limitsOf(old), limitsOf(new), old.node, new.node, part, func(subject string) bool {
			return !sameLimits(was[subject], is[subject]) // otherwise reported at the alias
		})
		return
	}
	was, is := schema.Underlying(old.typ), schema.Underlying(new.typ)
	if reflect.TypeOf(was) != reflect.TypeOf(is) {
		return // reported as a change of type
	}
	wasLimits, isLimits := limitsOf(old), limitsOf(new)
	switch was := was.(type) {
	case *schema.List:
		c.compareConstraints(u, constrained{was.Elem, nil, old.node}, constrained{is.(*schema.List).Elem, nil, new.node}, " for elements", nil)
	case *schema.Map:
		is := is.(*schema.Map)
		if keys, now := keyPatterns(was.Key, wasLimits), keyPatterns(is.Key, isLimits); sameLimits(keys, now) {
			delete(wasLimits, "keypattern") // moved to or from the key type
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

// compareUnique reports a list with the option unique, in both versions, whose elements are equal in more cases.
func (c *comparison) compareUnique(u use, old, new constrained) {
	elements := func(t constrained) *constraint.Equality {
		if list, ok := schema.Underlying(t.typ).(*schema.List); ok && t.own != nil && t.own.Unique {
			return equality.Of(list.Elem, nil)
		}
		return nil
	}
	bothUnique := old.own != nil && old.own.Unique // the elements of a list that is not unique are never compared
	if bothUnique && u.in && comparesMore(elements(old), elements(new), map[*constraint.Equality]bool{}) {
		c.report("EqualChanged", Impact{MayBreak, None, MayBreak, MayBreak}, old.node, new.node, "keep the option equal",
			"has elements that are equal in more cases, so a list may no longer be unique")
	}
}

// comparesMore reports whether is compares any values in a way in which was does not. Seen holds the visited parts of is.
func comparesMore(was, is *constraint.Equality, seen map[*constraint.Equality]bool) bool {
	if is == nil || seen[is] {
		return false
	}
	seen[is] = true
	if was == nil {
		was = &constraint.Equality{}
	}
	if is.As != "" && is.As != was.As || comparesMore(was.Elements, is.Elements, seen) {
		return true
	}
	for name, part := range is.Properties {
		if comparesMore(was.Properties[name], part, seen) {
			return true
		}
	}
	return false
}

// limitsOf returns the constraints of a type merged with the constraints of its use.
func limitsOf(t constrained) map[string][]limit {
	return limitsBySubject(schema.ConstraintsOf(t.typ), t.own)
}

// keyPatterns returns the patterns that the keys of a map must match: the pattern of the key type and the map's
// keyPattern constraints.
func keyPatterns(key schema.Type, limits map[string][]limit) []limit {
	list := limitsOf(constrained{typ: key})["pattern"]
	for _, l := range limits["keypattern"] {
		list = append(list, limit{"pattern", l.value})
	}
	return list
}

// sameLimits reports whether a and b accept the same values.
func sameLimits(a, b []limit) bool {
	lacks := func(list []limit) func(limit) bool { return func(l limit) bool { return !l.impliedBy(list) } }
	return !slices.ContainsFunc(a, lacks(b)) && !slices.ContainsFunc(b, lacks(a))
}

// reaches returns a function that reports whether a changed constraint of an alias affects at least one use of the
// alias. A use is unaffected if the property's own constraints are tighter than the alias's, both before and after the
// change.
func (c *comparison) reaches(old, new *schema.Alias) func(subject string) bool {
	is := func(t schema.Type) bool { ref, ok := t.(*schema.Ref); return ok && ref.Decl == old }
	return func(subject string) bool {
		used := false
		for d := range c.old.Package.Decls() {
			var rest []schema.Type // types whose constraints have other subjects
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
				// Changes to the property's own constraints are reported at the property.
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

// successor returns the new version of an old property, matched by name or by the option was=, or nil if there is none.
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

// compareLimits reports the limits that differ between old and new. Counts selects the subjects to compare; nil selects
// all.
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
		case subject == "equal" && !removed: // restricts nothing
		case subject == "equal" && len(b) == 0:
			c.report("EqualRemoved", Impact{Deployed: MayBreak}, at, now, "keep it until the stored values have the same spelling",
				"no longer has %s%s, so values that differ in spelling are changes", textOf(a), part)
		case subject == "equal":
			c.report("EqualChanged", Impact{Deployed: MayBreak}, at, now, "keep the option",
				"has %s%s (was %s), so values that were equal may be changes", textOf(b), part, textOf(a))
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
				"has the tighter constraint %s%s (was %s)", textOf(b), part, textOf(a))
		case removed:
			c.report("ConstraintLoosened", accepted, at, now, "",
				"has the looser constraint %s%s (was %s)", textOf(b), part, textOf(a))
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

// compareDefaults reports added, removed, and changed defaults of optional properties.
func compareDefaults(c *comparison, old, new property) {
	text := func(value any) string {
		if s, ok := value.(string); ok {
			return fmt.Sprintf("%q", s)
		}
		return fmt.Sprint(value)
	}
	switch {
	case old.Default == new.Default || !c.useOfProperty(old).in || !new.Optional || !old.Optional:
		// Programs must set required properties, and a change of optional is reported by compareOptional.
	case old.Default == nil:
		c.reportDefaultAdded(old.node(), new, MayBreak)
	case new.Default == nil:
		c.report("DefaultRemoved", Impact{Provider: MayBreak, Deployed: unless(new.Computed, Breaks)}, old.node(), new.node(), "keep the default",
			"no longer has a default, so it can be absent")
	case old.Secret || new.Secret:
		c.report("DefaultChanged", Impact{Deployed: Breaks}, old.node(), new.node(), "keep the default", "has a different default")
	default:
		c.report("DefaultChanged", Impact{Deployed: Breaks}, old.node(), new.node(), "keep the default",
			"has the default %s (was %s)", text(new.Default), text(old.Default))
	}
}

// reportDefaultAdded reports a new default. The default also applies to existing resources, and replaces them if the
// property has the option replaces.
func (c *comparison) reportDefaultAdded(old node, new property, update Severity) {
	if replaces, through := c.replaces(new); replaces {
		c.report("DefaultAdded", Impact{Deployed: Breaks}, old, new.node(), "let the provider choose a value",
			"has a new default, so the next change to a resource without the property replaces it%s", through)
		return
	}
	c.report("DefaultAdded", Impact{Deployed: update}, old, new.node(), "",
		"has a new default, which the next change to a resource without the property applies")
}
