package breaking_test

import (
	"slices"

	"github.com/lumi-idl/lumi/idl/schema"
)

// makeLegal removes constraints, defaults, and relations that a changed type or a removed property made invalid.
func makeLegal(pkg *schema.Package) {
	for d := range pkg.Decls() {
		if a, ok := d.(*schema.Alias); ok {
			a.Constraints = fitting(a.Target, a.Constraints)
		}
		list := schema.Properties(d)
		gone := func(name string) bool {
			return !slices.ContainsFunc(list, func(p *schema.Property) bool { return p.Name == name })
		}
		for _, p := range list {
			p.Constraints = fitting(p.Type, p.Constraints)
			fits := false
			switch values := schema.ValuesOf(p.Type); p.Default.(type) {
			case bool:
				fits = values == "booleans"
			case float64:
				fits = values == "numbers"
			case string:
				fits = values == "strings" || values == "enums"
			}
			if !fits {
				p.Default = nil
			}
			for _, names := range []*[]string{&p.ConflictsWith, &p.RequiredWith, &p.ExactlyOneOf} {
				*names = slices.DeleteFunc(*names, gone)
			}
		}
	}
}

func fitting(t schema.Type, c *schema.Constraints) *schema.Constraints {
	for name, value := range c.All() {
		if schema.ConstraintValues(name, value) != schema.ValuesOf(t) {
			return nil
		}
	}
	return c
}
