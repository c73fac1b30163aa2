package schema

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/lumi-idl/lumi/internal/rule"
)

// checkAliases rejects aliases that refer to themselves, on which [Underlying] and generators would loop forever.
func (p *Package) checkAliases() error {
	for d := range p.Decls() {
		a, ok := d.(*Alias)
		if !ok {
			continue
		}
		for ref := range Refs(a.Target) {
			if ref.Decl == d {
				return fmt.Errorf("%s: %s: the alias refers to itself", a.File.Path(), a.Name)
			}
		}
	}
	return nil
}

// checkValues rejects constraints and defaults that are invalid or do not fit their types.
func (p *Package) checkValues() error {
	for d := range p.Decls() {
		where := d.Head().File.Path() + ": " + d.Head().Name
		if a, ok := d.(*Alias); ok {
			if err := checkConstraints(a.Target, a.Constraints); err != nil {
				return fmt.Errorf("%s: %w", where, err)
			}
		}
		for _, r := range Rules(d) {
			if err := checkRule(r.Expr, Properties(d)); err != nil {
				return fmt.Errorf("%s: rule %q: %w", where, r.Message, err)
			}
		}
		for _, property := range Properties(d) {
			values, err := ValuesOf(property.Type), checkConstraints(property.Type, property.Constraints)
			if fits := defaultsOf(property.Default); err == nil && fits != nil && !slices.Contains(fits, values) {
				err = fmt.Errorf("default: %v is not valid for %s", property.Default, values)
			}
			if err != nil {
				return fmt.Errorf("%s.%s: %w", where, property.Name, err)
			}
		}
	}
	return nil
}

// checkRule rejects expressions with unknown operators or properties.
func checkRule(data any, properties []*Property) error {
	expr, err := rule.Of(data)
	if err != nil {
		return err
	}
	for path := range expr.Paths {
		siblings := properties
		for _, name := range path {
			i := slices.IndexFunc(siblings, func(p *Property) bool { return p.Name == name })
			if i < 0 {
				return fmt.Errorf("unknown property %q", name)
			}
			ref, _ := Underlying(siblings[i].Type).(*Ref)
			if siblings = nil; ref != nil {
				siblings = Properties(ref.Decl)
			}
		}
	}
	return nil
}

// defaultsOf returns the kinds of values that accept the given default, or nil if value is nil.
func defaultsOf(value any) []string {
	switch value.(type) {
	case bool:
		return []string{"booleans"}
	case float64:
		return []string{"numbers"}
	case string:
		return []string{"strings", "enums"}
	}
	return nil
}

func checkConstraints(t Type, c *Constraints) error {
	for name, arg := range c.All() {
		count, _ := arg.(int)
		factor, _ := arg.(float64)
		text, _ := arg.(string)
		if values := ConstraintValues(name, arg); values != ValuesOf(t) {
			return fmt.Errorf("%s applies to %s, not to %s", name, values, ValuesOf(t))
		}
		if count < 0 || name == "multipleOf" && factor <= 0 {
			return fmt.Errorf("%s: invalid value %v", name, arg)
		}
		if name == "pattern" || name == "keyPattern" {
			if _, err := regexp.Compile(text); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}

// checkUnions rejects unions with fewer than two variants and unions whose variants are neither all resources nor all
// structs.
func (p *Package) checkUnions() error {
	for d := range p.Decls() {
		u, ok := d.(*Union)
		if !ok {
			continue
		}
		seen := map[Decl]bool{}
		kinds := map[string]bool{}
		for _, v := range u.Variants {
			ref, ok := v.Type.(*Ref)
			if !ok || seen[ref.Decl] {
				return fmt.Errorf("%s: %s.%s: a variant must be a resource or a struct that no other variant uses", u.File.Path(), u.Name, v.Name)
			}
			seen[ref.Decl], kinds[ref.Decl.Head().Kind] = true, true
		}
		if len(seen) < 2 || len(kinds) != 1 || !kinds["resource"] && !kinds["struct"] {
			return fmt.Errorf("%s: %s: a union needs at least two variants, either all resources or all structs", u.File.Path(), u.Name)
		}
	}
	return nil
}

// isKey reports whether t, which must not refer to an alias, can be a map key.
func isKey(t Type) bool {
	if ref, ok := t.(*Ref); ok {
		_, isEnum := ref.Decl.(*Enum)
		return isEnum
	}
	return t == String
}
