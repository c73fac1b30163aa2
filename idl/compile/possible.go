package compile

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/idl/schema"
)

// valuesOf returns the possible values of a bool or enum type, and the type's name for messages. It returns nil for
// other types.
func valuesOf(t schema.Type) (values []string, name string) {
	t = schema.Underlying(t)
	if t == schema.Bool {
		return []string{"false", "true"}, "bool"
	}
	if ref, ok := t.(*schema.Ref); ok {
		if e, ok := ref.Decl.(*schema.Enum); ok {
			for _, m := range e.Members {
				values = append(values, m.Value)
			}
			return values, e.Name
		}
	}
	return nil, ""
}

// checkEnough reports lists and maps that require more distinct elements or keys than their element or key type has
// values.
func (c *checker) checkEnough(t schema.Type, list []setOption) {
	var values []string
	var name, minimum string
	unique := slices.IndexFunc(list, func(o setOption) bool { return o.name == "unique" })
	switch t := schema.Underlying(t).(type) {
	case *schema.List:
		if values, name = valuesOf(t.Elem); unique < 0 {
			return
		}
		minimum = "minItems"
	case *schema.Map:
		values, name = valuesOf(t.Key)
		minimum = "minProperties"
	}
	if len(values) == 0 {
		return
	}
	left, patterns := slices.Clone(values), ""
	for _, o := range list {
		if o.name != "keyPattern" {
			continue
		}
		pattern := regexp.MustCompile(o.value)
		left = slices.DeleteFunc(left, func(value string) bool { return !pattern.MatchString(value) })
		patterns += " match " + o.text
		if len(left) == 0 {
			c.report(diag.ConstraintConflict, o, "no value of %s matches %s", name, o.text).Suggestion = "change the pattern"
			return
		}
	}
	least := tightest(list, []string{minimum}, 1, bound{option: -1, limit: float64(len(left))})
	if least.option < 0 {
		return
	}
	o := list[least.option]
	count, match := "values", " match "
	if len(left) == 1 {
		count, match = "value", " matches "
	}
	d := c.report(diag.ConstraintConflict, o, "no value satisfies %s: only %d %s of %s%s", o.text, len(left), count, name,
		strings.ReplaceAll(patterns, " match ", match))
	d.Suggestion = fmt.Sprintf("write %s=%d", minimum, len(left))
	if patterns == "" {
		d.Message = fmt.Sprintf("no value satisfies %s: %s has %d values", o.text, name, len(values))
	}
	if minimum == "minItems" {
		d.Message += ", and a unique list contains each at most once"
		c.note(d, list[unique], "unique is set here")
	}
}

// checkConfigReferences reports required configuration properties that only a resource reference can set.
func (c *checker) checkConfigReferences() {
	for _, d := range c.order {
		if d.kind != config {
			continue
		}
		for _, f := range d.fields {
			if !f.Optional && needsResource(f.Type, f.Constraints, map[schema.Decl]bool{}) {
				c.report(diag.ConfigReference, f.at, "%s requires a resource, but the provider is configured "+
					"before any resource exists", f.Name).Suggestion = "remove it, or make the reference optional"
			}
		}
	}
}

// needsResource reports whether every value that satisfies both the type and the constraints own contains a resource
// reference. Seen holds the declarations being visited.
func needsResource(t schema.Type, own *schema.Constraints, seen map[schema.Decl]bool) bool {
	some := func(least func(*schema.Constraints) *int) bool {
		return slices.ContainsFunc([]*schema.Constraints{schema.ConstraintsOf(t), own}, func(c *schema.Constraints) bool {
			return c != nil && least(c) != nil && *least(c) > 0
		})
	}
	ref, ok := t.(*schema.Ref)
	if ok {
		if seen[ref.Decl] {
			_, isAlias := ref.Decl.(*schema.Alias) // recursive aliases are reported elsewhere
			return !isAlias                        // other cycles end in an optional property or another variant
		}
		seen[ref.Decl] = true
		defer delete(seen, ref.Decl)
	}
	switch t := schema.Underlying(t).(type) {
	case *schema.List:
		return some(func(c *schema.Constraints) *int { return c.MinItems }) && needsResource(t.Elem, nil, seen)
	case *schema.Map:
		return some(func(c *schema.Constraints) *int { return c.MinProperties }) && needsResource(t.Elem, nil, seen)
	case schema.Primitive:
		return t == schema.AnyResource
	case *schema.Ref:
		ref = t
	}
	needs := func(p *schema.Property) bool { return needsResource(p.Type, p.Constraints, seen) }
	switch d := ref.Decl.(type) {
	case *schema.Resource:
		return true
	case *schema.Struct:
		return slices.ContainsFunc(d.Properties, func(p *schema.Property) bool { return !p.Optional && needs(p) })
	case *schema.Union:
		return !slices.ContainsFunc(d.Variants, func(p *schema.Property) bool { return !needs(p) })
	}
	return false
}

// relations maps names to those properties of a struct that can have relations.
type relations map[string]*field

// checkSettable reports properties of d that no program can set because of conflicting relations.
func (c *checker) checkSettable(d *decl) {
	all := relations{}
	var groups [][]string
	for _, f := range d.fields {
		if whyPresent(f.Property) != "" {
			continue // reported with its relations
		}
		all[f.Name] = f
		if group := f.ExactlyOneOf; len(group) > 0 && group[0] == f.Name {
			groups = append(groups, group)
		}
	}
	groups = slices.DeleteFunc(groups, func(group []string) bool { // the missing member is reported with its relations
		return slices.ContainsFunc(group, func(name string) bool { return all[name] == nil })
	})
	if all.problem(groups) != "" { // a consequence of what the members require
		groups = nil
	}
	for _, f := range d.fields {
		if all[f.Name] == nil || f.owner != d {
			continue
		}
		problem := all.problem(groups, f.Name)
		direct := slices.ContainsFunc(f.RequiredWith, func(name string) bool { return all.conflict(f.Name, name) })
		if problem == "" || direct { // already reported
			continue
		}
		// A property that requires an unsettable one is only a consequence. In a cycle, the first property is reported.
		follows := slices.ContainsFunc(all.required(f.Name)[1:], func(name string) bool {
			circle := slices.Contains(all.required(name), f.Name)
			return all.problem(groups, name) != "" && (!circle || slices.Index(d.fields, all[name]) < slices.Index(d.fields, f))
		})
		if !follows {
			c.report(diag.Relation, f.at, "no program can set %s: %s", f.Name, problem).Suggestion = "remove one of the relations"
		}
	}
}

// required returns the given properties and their requirements, direct and indirect.
func (r relations) required(names ...string) []string {
	for i := 0; i < len(names); i++ {
		for _, name := range r[names[i]].RequiredWith {
			if r[name] != nil && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// conflict reports whether properties a and b cannot both be set.
func (r relations) conflict(a, b string) bool {
	p, q := r[a], r[b]
	return a != b && p != nil && q != nil &&
		(slices.Contains(p.ConflictsWith, b) || slices.Contains(q.ConflictsWith, a) || slices.Contains(p.ExactlyOneOf, b))
}

// problem returns the reason why the named properties cannot be set together, or "" if they can. It does not try all
// combinations: if several members of a group can be set, it assumes that one of them works.
func (r relations) problem(groups [][]string, names ...string) string {
	set := r.required(names...)
	for i, a := range set {
		for _, b := range set[:i] {
			switch {
			case !r.conflict(a, b):
			case b == names[0]:
				return "it requires " + a + ", which conflicts with it"
			default:
				return "it requires " + b + " and " + a + ", which conflict with each other"
			}
		}
	}
	for again := true; again; {
		again = false
		for _, group := range groups {
			if slices.ContainsFunc(group, func(name string) bool { return slices.Contains(set, name) }) {
				continue
			}
			left := slices.DeleteFunc(slices.Clone(group), func(name string) bool {
				return r.problem(nil, append(slices.Clone(set), name)...) != ""
			})
			switch len(left) {
			case 0:
				return "it excludes " + strings.Join(group, " and ") + ", one of which is required"
			case 1:
				set, again = r.required(append(set, left[0])...), true
			}
		}
	}
	return ""
}
